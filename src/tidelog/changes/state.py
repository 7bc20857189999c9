"""One version of a knowledge base in memory. It never changes; a change makes the next one.

Older versions: the newest one with what the log says was changed since then undone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import cast

from tidelog.algorithms.equality.policy import MODES, OFF, mode_of
from tidelog.algorithms.update import RuleChange
from tidelog.changes.result import Difference, only_in
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import UsageError
from tidelog.model.terms import column_names, is_helper
from tidelog.queries.answers import FactAnswers
from tidelog.rules.analysis.safety import check_rules
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.parsing.tokens import WELL_KNOWN_PREFIXES
from tidelog.rules.printer import format_rule
from tidelog.rules.syntax import Rule
from tidelog.store.digest import digest, sum_of_facts
from tidelog.store.records import Metadata, Sums
from tidelog.store.store import Store, StoredVersion

COLUMNS = "columns"  # the option with the names of columns
# Strings and IRIs are passed over, so that a question mark in them is no variable.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|<[^>]*>|\?\w+')


@dataclass(frozen=True)
class State:
    """Explicit facts E, materialised facts I, and the rules between them."""

    E: LocalFacts
    I: LocalFacts
    program: RuleChange = field(default_factory=lambda: RuleChange((), ()))  # its rules, unchanged
    arities: Mapping[str, int] = field(default_factory=dict)  # of the predicates in the rules
    prefixes: Mapping[str, str] = field(default_factory=dict)
    version: int = 0
    algorithm_state: object = None  # what the algorithm that made this version goes on from, such as counts
    options: Mapping[str, object] = field(default_factory=dict)  # settings that belong to the knowledge base
    metadata: Metadata = field(default_factory=Metadata)  # rules, prefixes and options of a version on disk,
    sums: Sums | None = None  # and what its digest is made of

    @property
    def columns(self) -> Mapping[str, list[str]]:
        """The names of the columns of relations, as far as data gave names."""
        return cast(Mapping[str, list[str]], self.options.get(COLUMNS, {}))

    def columns_of(self, name: str, arity: int) -> list[str]:
        """The names of the columns of a relation: from data, or else numbered."""
        names = self.columns.get(name, [])
        return list(names) if len(names) == arity else column_names(name, arity)

    def expand(self, predicate: str) -> str:
        """The full name of a relation that may be written with a prefix or in brackets."""
        prefix, colon, local = predicate.partition(":")
        known = self.prefixes.get(prefix, WELL_KNOWN_PREFIXES.get(prefix))
        return known + local if colon and known is not None else predicate.removeprefix("<").removesuffix(">")

    def known(self, predicate: str) -> str:
        """The full name of a relation that has facts or rules."""
        name = self.expand(predicate)
        known = {**self.I.arities(), **self.arities}
        if name not in known:
            shown = (each for each in known if not is_helper(each))
            raise UsageError(f"there is no relation {predicate}; there are: {', '.join(sorted(shown)) or 'none'}")
        return name

    def arity(self, name: str) -> int:
        """The number of arguments of a relation, as far as facts or rules tell."""
        return self.I.arities().get(name) or self.arities.get(name, 0)

    def digest(self) -> str:
        return digest(*self.known_sums(), map(_identity, self.program.after))

    def known_sums(self) -> Sums:
        """The sums of the facts; computed from all facts if they are not known."""
        return self.sums or Sums(sum_of_facts(self.E), sum_of_facts(self.I))

    def stored(self) -> StoredVersion:
        return StoredVersion(self.E.dictionary, self.E, self.I, self.metadata, self.known_sums(), self.version)


@dataclass(frozen=True, slots=True)
class StateOnDisk:
    """A version whose facts are in files of the store, which this process has not read.

    `state` has its rules, prefixes and options; its E and I are not those of the version.
    """

    state: State
    store: Store

    def read(self) -> State:
        """The version with its facts, or a newer one. Any thread may read it, also while another one writes."""
        store = Store(self.store.root, create=False)
        try:
            return restored(store.read(self.state.E.dictionary), self.state)
        finally:
            store.close()


@lru_cache(maxsize=1 << 16)
def _identity(rule: Rule) -> str:
    """The text of a rule, equal for rules that differ only in the names of their variables; it goes into digests."""
    numbers: dict[str, str] = {}
    text = format_rule(replace(rule, name=None))
    return _TOKEN.sub(lambda m: numbers.setdefault(m[0], f"?{len(numbers)}") if m[0][0] == "?" else m[0], text)


def restored(stored: StoredVersion, before: State | None = None) -> State:
    """The state that was stored; rules that an earlier state has are not read again."""
    metadata = stored.metadata
    if before is not None and before.metadata == metadata:
        return replace(before, E=stored.E, I=stored.I, version=stored.version, algorithm_state=None, sums=stored.sums)
    rules = tuple(parse_rules("\n".join(metadata.rules), "the stored rules"))
    arities = check_rules(rules, stored.E.arities(), allow_cartesian=True)
    return State(
        stored.E,
        stored.I,
        RuleChange(rules, rules),
        arities,
        metadata.prefixes,
        stored.version,
        options=metadata.options,
        metadata=metadata,
        sums=stored.sums,
    )


def state_at(store: Store, state: State, version: int) -> State:
    """A version as it was; `state` is the one that `store` was read or written last."""
    E, I = _facts_at(store, state, version)
    stored = StoredVersion(E.dictionary, E, I, store.metadata_at(version), Sums(), version)
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
    gained, lost = FactAnswers(seen.added, delta.E_added), FactAnswers(seen.removed, delta.E_removed)
    explicit = (FactAnswers(facts, facts) for facts in (delta.E_added, delta.E_removed))
    return Difference(older, newer, gained, lost, only_in(new, old), only_in(old, new), *explicit)


def _rules_at(store: Store, version: int) -> list[Rule]:
    return parse_rules("\n".join(store.metadata_at(version).rules), "the stored rules")
