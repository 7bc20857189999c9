"""Older versions: the newest one with what the log says was changed since then undone."""

from __future__ import annotations

from dataclasses import replace

from tidelog.answers import FactAnswers
from tidelog.change import Difference, only_in
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.equality.modes import MODES, OFF, mode_of
from tidelog.rules.parser import parse_rules
from tidelog.rules.syntax import Rule
from tidelog.state import State, restored
from tidelog.store.records import Sums
from tidelog.store.store import Store, Stored


def state_at(store: Store, state: State, version: int) -> State:
    """A version as it was; `state` is the one that `store` was read or written last."""
    E, I = _facts_at(store, state, version)
    stored = Stored(E.dictionary, E, I, store.settled_at(version), Sums(), version)
    return replace(restored(stored), sums=None)


def _facts_at(store: Store, state: State, version: int) -> tuple[LocalFacts, LocalFacts]:
    """Explicit and materialised facts of a version."""
    undo = store.between(version, state.version, state.E.dictionary).inverse()
    return undo.apply(state.E, state.I)


def difference(store: Store, engine: LocalEngine, state: State, older: int, newer: int) -> Difference:
    """What changed from one version to another, also backwards."""
    delta = store.between(min(older, newer), max(older, newer), state.E.dictionary)
    if newer < older:
        delta = delta.inverse()
    mode, before, after = mode_of(state.options), state.I, state.I
    if mode is not MODES[OFF]:
        (_, before), (_, after) = (_facts_at(store, state, version) for version in (older, newer))
    seen = mode.difference(engine, before, after, delta.I_added, delta.I_removed)
    old, new = _rules_at(store, older), _rules_at(store, newer)
    gained = FactAnswers(seen.added, lambda: _facts_at(store, state, newer)[0])
    lost = FactAnswers(seen.removed, lambda: _facts_at(store, state, older)[0])
    return Difference(older, newer, gained, lost, only_in(new, old), only_in(old, new))


def _rules_at(store: Store, version: int) -> list[Rule]:
    return parse_rules("\n".join(store.settled_at(version).rules), "the stored rules")
