"""The size and the state of a knowledge base."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tidelog.algebra.fact_set import shown_count
from tidelog.changes.state import State
from tidelog.engines.local.facts import LocalFacts
from tidelog.model.terms import is_helper
from tidelog.store.catalog import FORMAT
from tidelog.store.store import Store


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of facts of a relation. `derived` counts the facts that are not explicit.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="p(a) . q(a) .", add_rules="q(?x) :- p(?x) . q(b) :- p(?x) .")
    >>> kb.status().relations["q"]
    Counts(facts=2, explicit=1, derived=1)
    """

    facts: int
    explicit: int
    derived: int


@dataclass(frozen=True, slots=True)
class Status:
    """What `tidelog status` shows. For a knowledge base in memory, `bytes` is 0 and `format` is None.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
    >>> kb.status().facts, kb.status().relations["q"]
    (2, Counts(facts=1, explicit=0, derived=1))
    """

    version: int
    oldest: int  # the oldest version that can still be read
    digest: str
    facts: int
    explicit: int
    derived: int
    rules: int
    relations: Mapping[str, Counts]
    ruleset: str | None
    strict: bool
    bytes: int
    format: int | None


def status(state: State, I: LocalFacts, store: Store | None) -> Status:
    """The status. Reads counts only, no fact. `I` are all facts as users see them. Helper relations do not count."""
    facts, explicit, options = shown_count(I), shown_count(state.E), state.options
    return Status(
        version=state.version,
        oldest=state.version if store is None else min(store.catalog.manifest().floor, state.version),
        digest=state.digest(),
        facts=facts,
        explicit=explicit,
        derived=facts - explicit,
        rules=len(state.program.after),
        relations=dict(_relations(state.E, I)),
        ruleset=str(options["ruleset"]) if options.get("ruleset") else None,
        strict=bool(options.get("strict")),
        bytes=0 if store is None else sum(_sizes(store.root)),
        format=None if store is None else FORMAT,
    )


def _relations(E: LocalFacts, I: LocalFacts) -> Iterator[tuple[str, Counts]]:
    """Yield the counts of each relation, sorted by name. E is a subset of I."""
    explicit = E.predicates()
    for name, facts in sorted(I.predicates().items()):
        if not is_helper(name):
            asserted = explicit.get(name, 0)
            yield name, Counts(facts, asserted, facts - asserted)


def _sizes(root: Path) -> Iterator[int]:
    """The sizes of all files but SQLite's shared memory, which exists only while a process reads."""
    for path in root.rglob("*"):
        try:
            found = path.stat()
        except FileNotFoundError:  # a writer has just removed it
            continue
        if stat.S_ISREG(found.st_mode) and not path.name.endswith("-shm"):
            yield found.st_size
