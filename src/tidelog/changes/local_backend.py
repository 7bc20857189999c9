"""Changes in this process: facts are sorted arrays in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tidelog.algorithms.equality.policy import VisibleChange, mode_of
from tidelog.algorithms.update import Algorithm, Outcome, Update
from tidelog.changes.backend import AppliedChange
from tidelog.changes.inputs import Input
from tidelog.changes.progress import Progress
from tidelog.changes.request import ChangeOptions
from tidelog.changes.state import State
from tidelog.dictionary.batch import Batch
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import InputError
from tidelog.model.terms import Fact
from tidelog.queries.answers import FactAnswers
from tidelog.rules.analysis.safety import check_arity
from tidelog.store.delta import Delta
from tidelog.store.digest import sum_of_facts
from tidelog.store.records import Commit, Sums
from tidelog.store.store import Store


@dataclass(frozen=True, slots=True)
class GatheredChange:
    """The facts of a change in memory. `visible` is the change of I as users see it, with all equal names."""

    delta: Delta
    E: LocalFacts
    I: LocalFacts
    visible: VisibleChange[LocalFacts]
    algorithm_state: object = None

    def answers(self) -> tuple[FactAnswers, FactAnswers]:
        return FactAnswers(self.visible.added, self.delta.E_added), FactAnswers(
            self.visible.removed, self.delta.E_removed
        )

    def sums(self, before: Sums) -> Sums:
        E_added, E_removed, I_added, I_removed = map(sum_of_facts, self.delta.sets)
        return Sums(before.explicit.plus(E_added).minus(E_removed), before.facts.plus(I_added).minus(I_removed))

    def state(self, after: State) -> State:
        return replace(after, E=self.E, I=self.I, algorithm_state=self.algorithm_state)

    def commit(self, store: Store, record: Commit, after: State) -> State:
        state = self.state(after)
        store.commit(record, self.delta, state.stored())
        return state


@dataclass(frozen=True, slots=True)
class LocalBackend:
    engine: LocalEngine
    name: str = "local"

    def read(self, source: Input, arities: dict[str, int], options: ChangeOptions) -> tuple[LocalFacts, int]:
        with options.bad_line_collector() as collector:
            source = source.skipping_bad_lines(collector)
            batches = _reported(source.batches, options.progress)
            facts = read_batches(self.engine, source.facts, batches, arities)
        return facts, collector.count if collector is not None else 0

    def facts(self, state: State) -> tuple[LocalFacts, LocalFacts, object]:
        return state.E, state.I, state.algorithm_state

    def maintain(self, update: Update[LocalFacts], algorithm: Algorithm) -> Outcome[LocalFacts]:
        outcome = algorithm(update)
        self.engine.release_memory(len(outcome.added) + len(outcome.removed))
        return outcome

    def gather(self, applied: AppliedChange[LocalFacts]) -> GatheredChange:
        outcome, mode = applied.outcome, mode_of(applied.after.options)
        visible = mode.difference(self.engine, applied.before.I, outcome.I, outcome.added, outcome.removed)
        return GatheredChange(Delta(*applied.delta), applied.update.E, outcome.I, visible, outcome.algorithm_state)

    def write(self, store: Store, applied: AppliedChange[LocalFacts]) -> None:
        """Files are not needed: all facts are in memory."""


def read_batches(
    engine: LocalEngine, facts: Sequence[Fact], batches: Iterable[Iterable[Batch]], arities: dict[str, int]
) -> LocalFacts:
    """The facts of an input. New predicates are added to `arities`; facts that disagree with it are refused."""
    arities |= check_arity(facts, arities)
    checked = (batch for parts in batches for batch in _checked(parts, arities))
    return engine.fact_set(facts) | engine.load(checked)


def _reported(sources: Iterable[Iterable[Batch]], progress: Progress) -> Iterator[Iterator[Batch]]:
    """The same batches; the number of facts so far is reported after each."""
    total = 0
    for source in sources:
        for batch in source:
            total += len(batch)
            progress(f"read {total:,} facts")
            yield iter((batch,))


def _checked(batches: Iterable[Batch], arities: dict[str, int]) -> Iterator[Batch]:
    for batch in batches:
        if not len(batch):  # no rows have no columns
            continue
        check_columns(batch.predicate, len(batch.codes), arities)
        yield batch


def check_columns(predicate: str, columns: int, arities: dict[str, int]) -> None:
    """Refuse data with another number of columns than the predicate has arguments; add a new predicate to `arities`."""
    arity = arities.setdefault(predicate, columns)
    if arity != columns:
        raise InputError(f"{predicate} has {arity} arguments elsewhere, but this data gives it {columns} columns")
