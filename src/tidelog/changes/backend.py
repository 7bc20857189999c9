"""Where a change is carried out. A local and a Spark change differ only in their backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tidelog.algebra.engine import Engine
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.update import Algorithm, Outcome, Update
from tidelog.changes.choose import Choice
from tidelog.changes.constraints import Inconsistency
from tidelog.changes.inputs import Input
from tidelog.changes.request import ChangeOptions
from tidelog.changes.result import Change, only_in
from tidelog.changes.state import State, StateOnDisk
from tidelog.model.terms import is_helper
from tidelog.queries.answers import FactAnswers
from tidelog.store.delta import Delta
from tidelog.store.records import Commit, Sums
from tidelog.store.store import Store

F = TypeVar("F", bound=FactSet)


@dataclass(frozen=True, slots=True)
class AppliedChange(Generic[F]):
    """A change that was carried out and checked, but not committed.

    `after` has the rules, prefixes and options of the next version, but the facts of `before`.
    The facts of the next version are `update.E` and `outcome.I`.
    """

    engine: str
    before: State
    after: State
    options: ChangeOptions
    update: Update[F]
    outcome: Outcome[F]
    choice: Choice
    seconds: float
    bad_lines: int
    notes: tuple[str, ...] = ()
    inconsistencies: Sequence[Inconsistency] = ()

    @property
    def delta(self) -> tuple[F, F, F, F]:
        """Explicit facts gained and lost, all facts gained and lost: the order of `Delta`."""
        return self.update.added, self.update.removed, self.outcome.added, self.outcome.removed

    @property
    def has_effect(self) -> bool:
        """Whether the next version differs from the one before. A message makes no difference."""
        old, new = self.before, self.after
        if new.program.after != old.program.after or new.prefixes != old.prefixes or new.options != old.options:
            return True
        return any(map(len, (self.outcome.added, self.outcome.removed, self.update.added, self.update.removed)))

    def shown_facts(self) -> int:
        """The number of facts after the change, without those of helper relations."""
        helpers = {h.predicate for rule in self.after.program.after for h in rule.heads if is_helper(h.predicate)}
        I = self.outcome.I
        return len(I) - sum(map(I.count_of, helpers))

    def change(self, gained: FactAnswers, lost: FactAnswers) -> Change:
        """What the user gets."""
        old, new = self.before.program, self.after.program
        added, removed = ((), ()) if new is old else (only_in(new.after, old.after), only_in(old.after, new.after))
        return Change(
            self.after.version,
            gained,
            lost,
            self.choice.algorithm,
            self.engine,
            self.choice.reason,
            self.update.work,
            self.seconds,
            added_rules=added,
            removed_rules=removed,
            notes=self.notes,
            bad_lines=self.bad_lines,
            inconsistencies=self.inconsistencies,
        )


class StoredChange(Protocol):
    """The facts of a change, ready to be committed: in memory, or in files."""

    def answers(self) -> tuple[FactAnswers, FactAnswers]:
        """The facts that the user gains and loses."""
        ...

    def sums(self, before: Sums) -> Sums:
        """The sums of the next version; `before` are those of the version before."""
        ...

    def commit(self, store: Store, record: Commit, after: State) -> State | StateOnDisk:
        """Make the version durable. `after` is the next version without its facts. Returns it with them."""
        ...


class ChangeInMemory(StoredChange, Protocol):
    """A change whose facts are in this process."""

    @property
    def delta(self) -> Delta: ...

    def state(self, after: State) -> State:
        """`after` with the facts of the next version."""
        ...


class Backend(Protocol[F]):
    """An engine, and how facts come into it and out of it."""

    @property
    def name(self) -> str:
        """The name of the engine: "local" or "spark"."""
        ...

    @property
    def engine(self) -> Engine[F]: ...

    def read(self, source: Input, arities: dict[str, int], options: ChangeOptions) -> tuple[F, int]:
        """The facts of an input, and the number of bad lines left out.

        `arities` are those of known predicates. New predicates are added to it; facts that disagree are refused.
        """
        ...

    def facts(self, state: State) -> tuple[F, F, object]:
        """E, I and the state of the algorithm, None if this engine cannot use it."""
        ...

    def maintain(self, update: Update[F], algorithm: Algorithm) -> Outcome[F]:
        """Run the algorithm."""
        ...

    def gather(self, applied: AppliedChange[F]) -> ChangeInMemory:
        """Bring the facts of the change into this process."""
        ...

    def write(self, store: Store, applied: AppliedChange[F]) -> StoredChange | None:
        """Write the facts of the change to files that no version names yet. None: gather them instead."""
        ...
