"""The three verbs on packed columns, rules side by side on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import SourcedRule, guarded, pivoted, pivoted_at
from tidelog.dictionary import Dictionary
from tidelog.dictionary.batch import Batch
from tidelog.engines.local.expressions import Computer
from tidelog.engines.local.facts import LocalFacts, smallest
from tidelog.engines.local.heads import Gathered, aggregate_heads
from tidelog.engines.local.join_cache import StaticJoins
from tidelog.engines.local.plan import Step
from tidelog.engines.local.rule_grouping import Families
from tidelog.engines.local.small import SmallChanges
from tidelog.engines.local.solve import Effort, Solver
from tidelog.engines.local.supports import Supports, Window
from tidelog.engines.local.tally import LocalTally, Tallied
from tidelog.kernel.budget import Budget, give_back
from tidelog.kernel.join import Bindings, Columns
from tidelog.model.facts import Fact
from tidelog.model.terms import Term
from tidelog.rules.syntax import Atom, Negation, Rule, Variable
from tidelog.settings import Settings

T = TypeVar("T")

_BULK = 500_000  # facts changed at once after which memory is handed back
_FOLDED = 1 << 20  # rows of an answer gathered before equal ones are dropped
_WORTH_A_THREAD = 50_000  # facts read by a batch of rules before threads pay


class LocalEngine:
    """Implements `tidelog.algebra.engine.Engine` in this process.

    With `stable_windows` other processes may continue a search: a window of `supports` then depends on nothing but the
    rule and the facts, for rules with one atom beside the guard. Otherwise `supports` takes the fast path.
    """

    def __init__(
        self, settings: Settings | None = None, dictionary: Dictionary | None = None, *, stable_windows: bool = False
    ) -> None:
        self.stable_windows = stable_windows
        self.settings = settings or Settings.from_environment()
        self.dictionary = Dictionary() if dictionary is None else dictionary  # an empty one is false
        self.budget = Budget(self.settings.memory_budget, self.settings.block_bytes)
        self.solver = Solver(Computer(self.dictionary), self.budget)
        self._families = Families(self.dictionary)
        self._small = SmallChanges(self.dictionary)
        self._static = StaticJoins(self.solver, self.dictionary)

    def within(self, budget: Budget) -> LocalEngine:
        """An engine for one query with a budget of its own, over the same facts."""
        limited = LocalEngine(replace(self.settings, threads=1), self.dictionary)
        limited.budget = limited.solver.budget = budget
        limited.solver.computer.tick = budget.tick
        return limited

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.settings.threads, thread_name_prefix="tidelog")

    def close(self) -> None:
        """End the threads, if any were started."""
        if "_pool" in self.__dict__:
            self._pool.shutdown()

    def fact_set(self, facts: Iterable[Fact]) -> LocalFacts:
        by_predicate: dict[tuple[str, int], list[tuple[Term, ...]]] = {}
        for fact in facts:
            by_predicate.setdefault((fact.predicate, len(fact.args)), []).append(fact.args)
        if not by_predicate:
            return LocalFacts(self.dictionary, {})
        gathered = Gathered(self.dictionary, self.budget)
        encode = self.dictionary.encode
        for (predicate, arity), rows in by_predicate.items():
            ids = np.array([[encode(t) for t in row] for row in rows], dtype=np.int64).reshape(len(rows), arity)
            gathered.add_columns(predicate, list(ids.T), len(rows))
        return gathered.facts()

    def load(self, batches: Iterable[Batch]) -> LocalFacts:
        """A fact set of parsed rows, in bulk."""
        gathered = Gathered(self.dictionary, self.budget)
        for batch in batches:
            ids = self.dictionary.encode_many(batch.terms).astype(np.int64)
            gathered.add_columns(batch.predicate, [ids[codes] for codes in batch.codes], len(batch))
        return gathered.facts()

    def settle(self, changed: int) -> None:
        """After a change of so many facts: memory that bulk work no longer needs goes back to the system."""
        if changed > _BULK:
            give_back()

    def derive(self, rules: Sequence[SourcedRule[LocalFacts]], work: Work) -> LocalFacts:
        gathered = Gathered(self.dictionary, self.budget)
        rules = _possible(self._families.united(rules))
        self._static.new_batch([r.rule for r in rules])
        for derivations, part in self._each(self._derive_one, [self._task(r) for r in rules]):
            work.derivations += derivations
            gathered.absorb(part)
        return gathered.facts()

    def derive_pivoted(
        self,
        rules: Sequence[Rule],
        left: LocalFacts,
        pivot: LocalFacts,
        right: LocalFacts,
        negated: LocalFacts,
        work: Work,
    ) -> LocalFacts:
        found = self._small.derive(rules, left, pivot, right, work)
        if found is None:
            return self.derive([v for r in rules for v in pivoted(r, left, pivot, right, negated)], work)
        heads, others = found
        variants = [pivoted_at(rule, i, left, pivot, right, negated) for rule, i in others]
        return heads | self.derive(variants, work) if variants else heads

    def _task(self, extended: SourcedRule[LocalFacts]) -> _Task:
        rule = extended.rule
        wanted = _head_variables(rule)
        steps = self.solver.steps(rule.body, extended.sources)
        return _Task(rule, wanted, *self._static.rewrite(rule, steps, wanted), smallest(extended.sources))

    def _each(self, run: Callable[[_Task], T], tasks: Sequence[_Task]) -> Iterator[T]:
        """What every task gives; on threads when there is enough to read."""
        if len(tasks) > 1 and self.settings.threads > 1 and sum(t.smallest for t in tasks) > _WORTH_A_THREAD:
            yield from self._pool.map(run, tasks)
        else:
            yield from map(run, tasks)

    def _derive_one(self, task: _Task) -> tuple[int, Gathered]:
        gathered, rule = Gathered(self.dictionary, self.budget), task.rule
        counted = _Counted(self.solver.solve(task.steps, task.wanted, task.effort))
        if rule.aggregate is not None:
            aggregate_heads(rule, counted, gathered)
        else:
            for block in counted:
                gathered.add_heads(rule.heads, block)
        return counted.matches, gathered

    def _matches(self, extended: SourcedRule[LocalFacts], wanted: Sequence[Variable]) -> Iterator[Bindings]:
        return self.solver.solve(self.solver.steps(extended.rule.body, extended.sources), wanted)

    def tally(self, rules: Sequence[SourcedRule[LocalFacts]], work: Work) -> LocalTally:
        rules = _possible(self._families.united(rules))
        self._static.new_batch([r.rule for r in rules])
        parts = list(self._each(self._tally_one, [self._task(r) for r in rules]))
        work.derivations += sum(derivations for derivations, _ in parts)
        return LocalTally.sum(self.dictionary, (tally for _, tally in parts))

    def _tally_one(self, task: _Task) -> tuple[int, LocalTally]:
        if task.rule.aggregate is not None:
            derivations, gathered = self._derive_one(task)
            return derivations, LocalTally.once(gathered.facts())
        tallied = Tallied(self.dictionary, self.budget)
        counted = _Counted(self.solver.solve(task.steps, task.wanted, task.effort))
        for block in counted:
            for head in task.rule.heads:
                tallied.add_head(head, block)
        return counted.matches, tallied.tally

    def ones(self, facts: LocalFacts) -> LocalTally:
        return LocalTally.once(facts)

    def supports(
        self,
        rules: Sequence[Rule],
        guards: LocalFacts,
        facts: LocalFacts,
        negated: LocalFacts,
        start: int,
        stop: int | None,
        work: Work,
    ) -> tuple[LocalFacts, LocalFacts]:
        window = start, stop
        found = None if self.stable_windows else self._small.supports(rules, guards, facts, window, work)
        if found is None:
            none = self.fact_set(())
            found = none, none, [r for r in rules if guards.may_match(r.atoms[0])], rules
        bodies, unfinished, others, left = found
        if not others:
            return bodies, unfinished
        united = self._families.united_as_ever(others, left, lambda r: guarded(r, guards, facts, negated))
        search = self._search(united, window, work)
        return bodies | search.gathered.facts(), unfinished | search.unfinished.facts()

    def _search(self, rules: Sequence[SourcedRule[LocalFacts]], window: Window, work: Work) -> Supports:
        """Rule by rule."""
        search = Supports(self.solver, lambda: Gathered(self.dictionary, self.budget), *window)
        for extended in _possible(rules):
            search.add(extended, work)
        return search

    def proofs(
        self, rules: Sequence[Rule], guards: LocalFacts, facts: LocalFacts, negated: LocalFacts, work: Work
    ) -> tuple[LocalFacts, LocalFacts, LocalFacts]:
        found = self._small.proofs(rules, guards, facts, work)
        if found is None:
            none = self.fact_set(())
            found = none, guards, none, [r for r in rules if guards.may_match(r.atoms[0])]
        proved, rest, bodies, others = found
        if not others:
            return proved, rest, bodies
        search = self._search(self._families.united([guarded(r, rest, facts, negated) for r in others]), (0, 1), work)
        more = search.proved.facts()
        return proved | more, rest - more, bodies | search.gathered.facts()

    def instances(
        self, rule: SourcedRule[LocalFacts], variables: Sequence[Variable], limit: int | None = None
    ) -> Iterator[tuple[Term, ...]]:
        columns = self.bindings(rule, variables, limit)
        decoded = [self.dictionary.decode_many(columns.columns[v]) for v in variables]
        return iter(zip(*decoded, strict=True) if decoded else [()] * columns.length)

    def bindings(
        self, rule: SourcedRule[LocalFacts], variables: Sequence[Variable], limit: int | None = None
    ) -> Bindings:
        """The distinct values of the variables over all matches, as columns of ids."""
        parts: list[Bindings] = []
        length, row = 0, 16 * len(variables)  # bytes of a row while equal ones are dropped
        together = 0  # rows of the first part, which is what the others are folded into when they have grown as large
        for block in self._matches(rule, variables) if _possible([rule]) else ():
            self.budget.claim(row * block.length, "the answer to a query", row * length)
            parts.append(_distinct([block], variables))
            length = sum(part.length for part in parts)
            if length > 2 * together + _FOLDED or (limit is not None and length >= limit):
                parts = [_distinct(parts, variables)]
                together = parts[0].length
            if limit is not None and together >= limit:
                return parts[0].take(np.arange(limit, dtype=np.int64))
        return _distinct(parts, variables)


@dataclass(frozen=True, slots=True)
class _Task:
    """A rule ready to run."""

    rule: Rule
    wanted: list[Variable]
    steps: list[Step]
    effort: Effort
    smallest: int


class _Counted:
    """Passes blocks on and counts the matches they stand for."""

    def __init__(self, blocks: Iterator[Bindings]) -> None:
        self.blocks = blocks
        self.matches = 0

    def __iter__(self) -> Iterator[Bindings]:
        for block in self.blocks:
            self.matches += block.matches()
            yield block


def _possible(rules: Sequence[SourcedRule[LocalFacts]]) -> list[SourcedRule[LocalFacts]]:
    """Those that have no atom without any match: of a large rule set, data use few rules."""
    return [r for r in rules if all(s.may_match(b) for b, s in _positive(r))]


def _positive(extended: SourcedRule[LocalFacts]) -> Iterator[tuple[Atom, LocalFacts]]:
    read = (b for b in extended.rule.body if isinstance(b, Atom | Negation))
    return ((b, s) for b, s in zip(read, extended.sources, strict=True) if isinstance(b, Atom))


def _distinct(parts: Sequence[Bindings], variables: Sequence[Variable]) -> Bindings:
    """The distinct rows of some bindings."""
    empty = np.empty(0, dtype=np.int64)
    columns: Columns = {v: np.concatenate([p.columns[v] for p in parts] or [empty]) for v in variables}
    return replace(Bindings(columns, sum(p.length for p in parts)).folded(), weight=None)


def _head_variables(rule: Rule) -> list[Variable]:
    """The variables the heads need, those inside an aggregate included."""
    wanted = [v for head in rule.heads for v in head.variables()]
    if rule.aggregate is not None:
        wanted += rule.aggregate.args
    return list(dict.fromkeys(wanted))
