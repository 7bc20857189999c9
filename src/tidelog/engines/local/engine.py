"""The verbs of an engine on packed columns, with rules in parallel on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import local
from typing import TypeVar

import numpy as np

from tidelog import tuning
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import SourcedRule, guarded, pivoted, pivoted_at
from tidelog.dictionary import Dictionary
from tidelog.dictionary.batch import Batch
from tidelog.engines.local.expressions import ColumnEvaluator
from tidelog.engines.local.fact_builder import FactBuilder, aggregate_heads
from tidelog.engines.local.facts import LocalFacts, smallest
from tidelog.engines.local.join_cache import JoinCache
from tidelog.engines.local.plan import BodyStep
from tidelog.engines.local.rule_grouping import RuleGrouping
from tidelog.engines.local.small import SmallChanges
from tidelog.engines.local.solve import Effort, Solver
from tidelog.engines.local.supports import CandidateWindow, SupportSearch
from tidelog.engines.local.tally import LocalTally, TallyBuilder
from tidelog.kernel.budget import Budget, release_unused_memory
from tidelog.kernel.join import Bindings, Columns
from tidelog.model.terms import Fact, Term
from tidelog.rules.syntax import Atom, Rule, Variable
from tidelog.settings import Settings

T = TypeVar("T")


class LocalEngine:
    """Implements `tidelog.algebra.engine.Engine` in this process. Several threads may use one engine.

    With `stable_windows` other processes may continue a search: a window of `supports` then depends on nothing but the
    rule and the facts, for rules with one atom beside the guard. Otherwise `supports` takes the fast path.
    """

    def __init__(
        self, settings: Settings | None = None, dictionary: Dictionary | None = None, *, stable_windows: bool = False
    ) -> None:
        self.stable_windows = stable_windows
        self.settings = settings or Settings.from_environment()
        self.dictionary = Dictionary() if dictionary is None else dictionary  # not `or`: an empty dictionary is false
        self.budget = Budget(self.settings.memory_budget, self.settings.block_bytes)
        self.solver = Solver(ColumnEvaluator(self.dictionary), self.budget)
        self._grouping = RuleGrouping(self.dictionary)
        self._prepared = _Prepared(self.solver, self.dictionary)
        self._threads: tuple[int, ThreadPoolExecutor] | None = None  # with the process that started them

    def within(self, budget: Budget) -> LocalEngine:
        """An engine for one query with a budget of its own, over the same facts."""
        limited = LocalEngine(replace(self.settings, threads=1), self.dictionary)
        limited.budget = limited.solver.budget = budget
        limited.solver.evaluator.tick = budget.tick
        return limited

    @property
    def _small(self) -> SmallChanges:
        return self._prepared.small

    @property
    def _join_cache(self) -> JoinCache:
        return self._prepared.join_cache

    @property
    def _pool(self) -> ThreadPoolExecutor:
        """The threads. A forked process has none of the threads of its parent, so it starts its own."""
        threads = self._threads
        if threads is None or threads[0] != os.getpid():
            threads = self._threads = (
                os.getpid(),
                ThreadPoolExecutor(self.settings.threads, thread_name_prefix="tidelog"),
            )
        return threads[1]

    def close(self) -> None:
        """Stop the threads, if the engine started any. The engine then works without them, or starts new ones."""
        threads, self._threads = self._threads, None
        if threads is not None and threads[0] == os.getpid():
            threads[1].shutdown()

    def fact_set(self, facts: Iterable[Fact]) -> LocalFacts:
        by_predicate: dict[tuple[str, int], list[tuple[Term, ...]]] = {}
        for fact in facts:
            by_predicate.setdefault((fact.predicate, len(fact.args)), []).append(fact.args)
        if not by_predicate:
            return LocalFacts(self.dictionary, {})
        gathered = FactBuilder(self.dictionary, self.budget)
        encode = self.dictionary.encode
        for (predicate, arity), rows in by_predicate.items():
            ids = np.array([[encode(t) for t in row] for row in rows], dtype=np.int64).reshape(len(rows), arity)
            gathered.add_columns(predicate, list(ids.T), len(rows))
        return gathered.facts()

    def load(self, batches: Iterable[Batch]) -> LocalFacts:
        """A fact set of the rows of parsed batches."""
        gathered = FactBuilder(self.dictionary, self.budget)
        for batch in batches:
            ids = self.dictionary.encode_many(batch.terms).astype(np.int64)
            gathered.add_columns(batch.predicate, [ids[codes] for codes in batch.codes], len(batch))
        return gathered.facts()

    def release_memory(self, changed: int) -> None:
        """Called after a change of `changed` facts: after a large one, return unused memory to the system."""
        if changed > tuning.RELEASED_FACTS:
            release_unused_memory()

    def derive(self, rules: Sequence[SourcedRule[LocalFacts]], work: Work) -> LocalFacts:
        gathered = FactBuilder(self.dictionary, self.budget)
        rules = _possible(self._grouping.grouped(rules))
        self._join_cache.new_batch([r.rule for r in rules])
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

    def _task(self, sourced: SourcedRule[LocalFacts]) -> _RuleTask:
        rule = sourced.rule
        wanted = _head_variables(rule)
        steps = self.solver.steps(rule.body, sourced.sources)
        return _RuleTask(rule, wanted, *self._join_cache.rewrite(rule, steps, wanted), smallest(sourced.sources))

    def _each(self, run: Callable[[_RuleTask], T], tasks: Sequence[_RuleTask]) -> Iterator[T]:
        """The result of each task; on threads if the tasks read enough facts."""
        results: Iterator[T] = map(run, tasks)
        if len(tasks) > 1 and self.settings.threads > 1 and sum(t.smallest for t in tasks) > tuning.THREADED_FACTS:
            with suppress(RuntimeError):  # another thread has just closed the engine
                results = self._pool.map(run, tasks)
        yield from results

    def _derive_one(self, task: _RuleTask) -> tuple[int, FactBuilder]:
        gathered, rule = FactBuilder(self.dictionary, self.budget), task.rule
        counted = _CountingBlocks(self.solver.solve(task.steps, task.wanted, task.effort))
        if rule.aggregate is not None:
            aggregate_heads(rule, counted, gathered)
        else:
            for block in counted:
                gathered.add_heads(rule.heads, block)
        return counted.matches, gathered

    def _matches(self, sourced: SourcedRule[LocalFacts], wanted: Sequence[Variable]) -> Iterator[Bindings]:
        return self.solver.solve(self.solver.steps(sourced.rule.body, sourced.sources), wanted)

    def tally(self, rules: Sequence[SourcedRule[LocalFacts]], work: Work) -> LocalTally:
        rules = _possible(self._grouping.grouped(rules))
        self._join_cache.new_batch([r.rule for r in rules])
        parts = list(self._each(self._tally_one, [self._task(r) for r in rules]))
        work.derivations += sum(derivations for derivations, _ in parts)
        return LocalTally.sum(self.dictionary, (tally for _, tally in parts))

    def _tally_one(self, task: _RuleTask) -> tuple[int, LocalTally]:
        if task.rule.aggregate is not None:
            derivations, gathered = self._derive_one(task)
            return derivations, LocalTally.once(gathered.facts())
        tallied = TallyBuilder(self.dictionary, self.budget)
        counted = _CountingBlocks(self.solver.solve(task.steps, task.wanted, task.effort))
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
        united = self._grouping.group_stably(others, left, lambda r: guarded(r, guards, facts, negated))
        search = self._search(united, window, work)
        return bodies | search.gathered.facts(), unfinished | search.unfinished.facts()

    def _search(self, rules: Sequence[SourcedRule[LocalFacts]], window: CandidateWindow, work: Work) -> SupportSearch:
        """The general path of `supports` and `proofs`: rule by rule."""
        search = SupportSearch(self.solver, lambda: FactBuilder(self.dictionary, self.budget), *window)
        for sourced in _possible(rules):
            search.add(sourced, work)
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
        search = self._search(self._grouping.grouped([guarded(r, rest, facts, negated) for r in others]), (0, 1), work)
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
        """The distinct values of the variables over all matches, as columns of ids; at most `limit` rows."""
        parts: list[Bindings] = []
        length, row = 0, 16 * len(variables)  # bytes of a row while equal ones are dropped
        together = 0  # rows of the first part; the other parts are merged into it when they are as large
        for block in self._matches(rule, variables) if _possible([rule]) else ():
            self.budget.claim(row * block.length, "the answer to a query", row * length)
            parts.append(_distinct([block], variables))
            length = sum(part.length for part in parts)
            if length > 2 * together + tuning.ANSWER_ROWS or (limit is not None and length >= limit):
                parts = [_distinct(parts, variables)]
                together = parts[0].length
            if limit is not None and together >= limit:
                return parts[0].take(np.arange(limit, dtype=np.int64))
        return _distinct(parts, variables)


class _Prepared(local):
    """What an engine remembers from one batch of rules to the next. Each thread has its own."""

    def __init__(self, solver: Solver, dictionary: Dictionary) -> None:
        self.small = SmallChanges(dictionary)
        self.join_cache = JoinCache(solver, dictionary)


@dataclass(frozen=True, slots=True)
class _RuleTask:
    """A rule that is ready to run."""

    rule: Rule
    wanted: list[Variable]
    steps: list[BodyStep]
    effort: Effort
    smallest: int


class _CountingBlocks:
    """Iterates over blocks and counts the matches they stand for."""

    def __init__(self, blocks: Iterator[Bindings]) -> None:
        self.blocks = blocks
        self.matches = 0

    def __iter__(self) -> Iterator[Bindings]:
        for block in self.blocks:
            self.matches += block.matches()
            yield block


def _possible(rules: Sequence[SourcedRule[LocalFacts]]) -> list[SourcedRule[LocalFacts]]:
    """The rules whose positive atoms may all match; most rules of a large rule set do not."""
    return [r for r in rules if all(s.may_match(b) for b, s in _positive(r))]


def _positive(sourced: SourcedRule[LocalFacts]) -> Iterator[tuple[Atom, LocalFacts]]:
    read = sourced.rule.literals
    return ((b, s) for b, s in zip(read, sourced.sources, strict=True) if isinstance(b, Atom))


def _distinct(parts: Sequence[Bindings], variables: Sequence[Variable]) -> Bindings:
    """The distinct rows of all parts, without weights."""
    empty = np.empty(0, dtype=np.int64)
    columns: Columns = {v: np.concatenate([p.columns[v] for p in parts] or [empty]) for v in variables}
    return replace(Bindings(columns, sum(p.length for p in parts)).deduplicated(), weight=None)


def _head_variables(rule: Rule) -> list[Variable]:
    """The variables of the heads, with those inside an aggregate."""
    wanted = [v for head in rule.heads for v in head.variables()]
    if rule.aggregate is not None:
        wanted += rule.aggregate.args
    return list(dict.fromkeys(wanted))
