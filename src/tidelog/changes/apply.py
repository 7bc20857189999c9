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


class Checks(NamedTuple):
    """`strict` refuses what is else only reported; bodies that are cartesian products may be allowed."""

    strict: bool = False
    allow_cartesian: bool = False


DEFAULT = Checks()


class Attempt(NamedTuple):
    """The state after a change, what users see of it, and its net effect on what is stored."""

    after: State
    change: Change
    delta: Delta


@dataclass(frozen=True, slots=True)
class Maintained(Generic[F]):
    """Explicit facts after a change, those that are new and gone, and what that leads to."""

    E: F
    new: F
    gone: F
    outcome: Outcome[F]
    choice: Choice


def attempt(
    engine: LocalEngine,
    before: State,
    plus: Input,
    minus: Input,
    without: Sequence[Rule],
    algorithm: str,
    checks: Checks = DEFAULT,
) -> Attempt:
    """Add and remove facts and rules."""
    start, mode, work = time.perf_counter(), mode_of(before.options), Work()
    ruled = with_rules(before, plus, without, checks.allow_cartesian)
    arities = {**before.E.arities(), **ruled.arities}
    added, removed = read_into(engine, plus, arities), read_into(engine, minus, arities)
    done = maintained(
        engine, before, ruled, before.E, before.I, added, removed, algorithm, work, checks, before.algorithm_state
    )
    outcome, choice = done.outcome, done.choice
    after = replace(ruled, E=done.E, I=outcome.I, version=before.version + 1, algorithm_state=outcome.algorithm_state)
    engine.release_memory(len(outcome.added) + len(outcome.removed))
    seconds = time.perf_counter() - start
    seen = mode.difference(engine, before.I, after.I, outcome.added, outcome.removed)
    gained, lost = FactAnswers(seen.added, done.E), FactAnswers(seen.removed, before.E)
    change = Change(after.version, gained, lost, choice.algorithm, "local", choice.reason, work, seconds)
    if ruled.program is not before.program:
        old, new = before.program.after, ruled.program.after
        change = replace(change, added_rules=only_in(new, old), removed_rules=only_in(old, new))
    return Attempt(after, change, Delta(done.new, done.gone, outcome.added, outcome.removed))


def maintained(
    engine: Engine[F],
    before: State,
    ruled: State,
    E: F,
    I: F,
    added: F,
    removed: F,
    algorithm: str,
    work: Work,
    checks: Checks,
    algorithm_state: object = None,
) -> Maintained[F]:
    """The facts of a change carried out on any engine, which has the facts E and I; `ruled` has the new rules."""
    mode = mode_of(before.options)
    gone, new = (removed - added) & E, added - E
    program = (
        before.program if ruled.program is before.program else RuleChange(before.program.after, ruled.program.after)
    )
    choice = choose(algorithm, program, len(E), len(gone), algorithm_state)
    E_after = (E - removed) | added
    update = Update(engine, program, E_after, I, gone, new, work, algorithm_state)
    outcome = mode.algorithm(choice.algorithm)(update)
    old, constraints = (tuple(r for r in s.program.after if r.is_constraint) for s in (before, ruled))
    checked = RuleChange(mode.rules(engine, old, I), mode.rules(engine, constraints, outcome.I))
    check_constraints(engine, checked, outcome, strict=checks.strict)
    return Maintained(E_after, new, gone, outcome, choice)


def recomputed(engine: LocalEngine, state: State) -> LocalFacts:
    """All that follows from the explicit facts, from scratch."""
    nothing, mode = engine.fact_set(()), mode_of(state.options)
    update = Update(engine, state.program, state.E, nothing, nothing, state.E, Work())
    return mode.algorithm("rematerialise")(update).I


def with_rules(state: State, plus: Input, remove: Sequence[Rule], allow_cartesian: bool) -> State:
    """The state with its rules changed and checked, and with new prefixes; its facts are as they were."""
    old = state.program.after
    rules = _change_rules(old, plus.rules, remove)
    if rules != old:
        arities = check_rules(rules, state.E.arities(), allow_cartesian=allow_cartesian)
        program = RuleChange(rules, rules)
        program.strata  # noqa: B018  refuses rules that cannot be ordered, before anything is done
        state = replace(state, program=program, arities=arities)
    return replace(state, prefixes={**state.prefixes, **plus.prefixes}) if plus.prefixes else state


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
