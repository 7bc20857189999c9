"""A change, tried: read and check the input, maintain the consequences, check the constraints.

Everything is made anew beside the state that was; if anything raises, nothing has changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.equality.policy import mode_of
from tidelog.algorithms.update import Outcome, RuleChange, Update
from tidelog.changes.choose import Choice, choose
from tidelog.changes.constraints import check_constraints
from tidelog.changes.inputs import Input
from tidelog.changes.request import ChangeOptions, ChangeRequest
from tidelog.changes.result import Change, only_in
from tidelog.changes.state import State
from tidelog.dictionary.batch import Batch
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import InputError, UsageError
from tidelog.model.facts import Fact
from tidelog.queries.answers import FactAnswers
from tidelog.rules.analysis.safety import check_arity, check_rules
from tidelog.rules.syntax import Rule
from tidelog.store.delta import Delta

F = TypeVar("F", bound=FactSet)


class Attempt(NamedTuple):
    """The state after a change, what users see of it, and its net effect on what is stored."""

    after: State
    change: Change
    delta: Delta


@dataclass(frozen=True, slots=True)
class Maintained(Generic[F]):
    """An update, its outcome, and the algorithm that made it."""

    update: Update[F]
    outcome: Outcome[F]
    choice: Choice


def attempt(engine: LocalEngine, before: State, request: ChangeRequest) -> Attempt:
    """Carry out a change in this process; nothing is committed."""
    start, mode, work = time.perf_counter(), mode_of(before.options), Work()
    ruled = with_rules(before, request)
    arities = {**before.E.arities(), **ruled.arities}
    with request.options.bad_line_collector() as collector:
        added = read_into(engine, request.add.skipping_bad_lines(collector), arities)
        removed = read_into(engine, request.remove, arities)
    update = as_update(engine, before, ruled, (before.E, before.I), (removed, added), work)
    done = maintained(before, ruled, update, len(before.E), request.options)
    outcome, choice = done.outcome, done.choice
    after = replace(ruled, E=update.E, I=outcome.I, version=before.version + 1, algorithm_state=outcome.algorithm_state)
    engine.release_memory(len(outcome.added) + len(outcome.removed))
    seconds = time.perf_counter() - start
    seen = mode.difference(engine, before.I, after.I, outcome.added, outcome.removed)
    gained, lost = FactAnswers(seen.added, update.E), FactAnswers(seen.removed, before.E)
    change = Change(after.version, gained, lost, choice.algorithm, "local", choice.reason, work, seconds)
    if ruled.program is not before.program:
        old, new = before.program.after, ruled.program.after
        change = replace(change, added_rules=only_in(new, old), removed_rules=only_in(old, new))
    if collector is not None and collector.count:
        change = replace(change, bad_lines=collector.count)
    return Attempt(after, change, Delta(update.added, update.removed, outcome.added, outcome.removed))


def as_update(
    engine: Engine[F], before: State, ruled: State, facts: tuple[F, F], changed: tuple[F, F], work: Work
) -> Update[F]:
    """What the algorithm gets. `facts` are E and I before the change; `changed` are the facts to remove and to add.

    A fact that is removed and added in one request stays.
    """
    (E, I), (remove, add) = facts, changed
    rules = before.program
    if ruled.program is not before.program:
        rules = RuleChange(before.program.after, ruled.program.after)
    return Update(engine, rules, (E - remove) | add, I, (remove - add) & E, add - E, work, before.algorithm_state)


def maintained(before: State, ruled: State, update: Update[F], explicit: int, options: ChangeOptions) -> Maintained[F]:
    """The outcome of an update, on any engine, with its constraints checked. `explicit` is |E| before the change."""
    mode, engine = mode_of(before.options), update.engine
    choice = choose(options.algorithm, update.rules, explicit, len(update.removed), update.algorithm_state)
    outcome = mode.algorithm(choice.algorithm)(update)
    old, constraints = (tuple(r for r in s.program.after if r.is_constraint) for s in (before, ruled))
    checked = RuleChange(mode.rules(engine, old, update.I), mode.rules(engine, constraints, outcome.I))
    check_constraints(engine, checked, outcome, strict=options.strict)
    return Maintained(update, outcome, choice)


def recomputed(engine: LocalEngine, state: State) -> LocalFacts:
    """All that follows from the explicit facts, from scratch."""
    nothing, mode = engine.fact_set(()), mode_of(state.options)
    update = Update(engine, state.program, state.E, nothing, nothing, state.E, Work())
    return mode.algorithm("rematerialise")(update).I


def with_rules(state: State, request: ChangeRequest) -> State:
    """The state with its rules changed and checked, and with new prefixes; its facts are as they were."""
    old = state.program.after
    rules = _change_rules(old, request.add.rules, request.remove_rules)
    if rules != old:
        arities = check_rules(rules, state.E.arities(), allow_cartesian=request.options.allow_cartesian)
        program = RuleChange(rules, rules)
        program.strata  # noqa: B018  refuses rules that cannot be ordered, before anything is done
        state = replace(state, program=program, arities=arities)
    prefixes = request.add.prefixes
    return replace(state, prefixes={**state.prefixes, **prefixes}) if prefixes else state


def _change_rules(rules: Sequence[Rule], add: Iterable[Rule], remove: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules after a change. A rule is the same whatever its variables are called; its attributes may be new."""
    kept = {r.key: r for r in rules}
    for rule in remove:
        if kept.pop(rule.key, None) is None:
            raise UsageError(f"cannot remove a rule that is not there: {rule}")
    for rule in add:
        old = kept.get(rule.key)
        if old is None or (old.bound, old.cartesian, old.report) != (rule.bound, rule.cartesian, rule.report):
            kept[rule.key] = rule
    return tuple(kept.values())


def read_into(engine: LocalEngine, source: Input, arities: dict[str, int]) -> LocalFacts:
    return read_batches(engine, source.facts, source.batches, arities)


def read_batches(
    engine: LocalEngine, facts: Sequence[Fact], batches: Iterable[Iterable[Batch]], arities: dict[str, int]
) -> LocalFacts:
    """The facts of an input; `arities` learns what is new and refuses what disagrees."""
    arities |= check_arity(facts, arities)
    checked = (batch for parts in batches for batch in _checked(parts, arities))
    return engine.fact_set(facts) | engine.load(checked)


def _checked(batches: Iterable[Batch], arities: dict[str, int]) -> Iterator[Batch]:
    for batch in batches:
        if not len(batch):  # no rows have no columns
            continue
        check_columns(batch.predicate, len(batch.codes), arities)
        yield batch


def check_columns(predicate: str, columns: int, arities: dict[str, int]) -> None:
    """Data must have as many columns as the predicate has arguments elsewhere; `arities` learns of new ones."""
    arity = arities.setdefault(predicate, columns)
    if arity != columns:
        raise InputError(f"{predicate} has {arity} arguments elsewhere, but this data gives it {columns} columns")
