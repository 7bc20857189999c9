"""Carry out a change: read its facts, check its rules, maintain the consequences, check the constraints.

Nothing is committed. All results are new values; if anything raises, nothing has changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import all_from, with_sources
from tidelog.algorithms.budgeted import with_experience
from tidelog.algorithms.equality.policy import MODES, OFF, mode_of
from tidelog.algorithms.update import RuleChange, Update
from tidelog.changes.backend import AppliedChange, Backend
from tidelog.changes.choose import Choice, choose, made_by
from tidelog.changes.constraints import check_constraints, new_inconsistencies
from tidelog.changes.local_backend import LocalBackend
from tidelog.changes.notes import idle_notes
from tidelog.changes.request import ChangeOptions, ChangeRequest
from tidelog.changes.state import COLUMNS, State
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import InputError, UsageError
from tidelog.rules.analysis.safety import check_rules
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)


def apply(backend: Backend[F], before: State, request: ChangeRequest, engine_reason: str = "") -> AppliedChange[F]:
    """Carry out a change on a backend. `engine_reason` says why this backend, if that is worth a word."""
    start = time.perf_counter()
    after = with_new_rules(before, request)
    read = read_update(backend, before, after, request)
    applied = _carry_out(backend, before, after, read, request.options, engine_reason)
    _, of_prefixes = request.add.merged_prefixes(before.prefixes)
    _, of_columns = request.add.merged_columns(before.columns)
    notes = (*request.add.notes, *of_prefixes, *of_columns, *applied.notes)
    if request.replaced is None:  # else facts that stay are expected
        is_plain = mode_of(after.options) is MODES[OFF]
        notes += (*idle_notes(read.add, read.remove, read.update, applied.outcome, after.prefixes, is_plain=is_plain),)
    return replace(applied, seconds=time.perf_counter() - start, notes=notes)


def revert(
    backend: Backend[LocalFacts], before: State, past: State, options: ChangeOptions
) -> AppliedChange[LocalFacts]:
    """The change to a version that equals an older one: its explicit facts, rules, prefixes and options."""
    start = time.perf_counter()
    rules = past.program.after
    program = before.program if rules == before.program.after else RuleChange(rules, rules)
    after = replace(
        before, program=program, arities=past.arities, prefixes=past.prefixes, options=past.options,
        version=before.version + 1,
    )  # fmt: skip
    change = program if program is before.program else RuleChange(before.program.after, rules)
    E, I, algorithm_state = backend.facts(before)
    add, remove = past.E - E, E - past.E
    update = Update(backend.engine, change, past.E, I, remove, add, Work(), algorithm_state)
    applied = _carry_out(backend, before, after, ReadUpdate(add, remove, update, 0), options)
    return replace(applied, seconds=time.perf_counter() - start)


def _carry_out(
    backend: Backend[F],
    before: State,
    after: State,
    read: ReadUpdate[F],
    options: ChangeOptions,
    engine_reason: str = "",
) -> AppliedChange[F]:
    """Maintain the consequences and check the constraints. Without an effect, the version stays the one before."""
    update = read.update
    choice = choose(
        options.algorithm, update.rules, len(before.E), len(update.removed), update.algorithm_state, backend.name
    )
    if engine_reason:
        choice = Choice(choice.algorithm, f"{choice.reason}; {backend.name}: {engine_reason}")
    mode = mode_of(after.options)
    options.progress(f"materialise by {choice.algorithm}")
    outcome = with_experience(update, backend.maintain(update, mode.algorithm(choice.algorithm)))
    choice = made_by(choice, update.work.attempts)
    old, new = (tuple(r for r in state.program.after if r.is_constraint) for state in (before, after))
    engine, work = backend.engine, update.work
    options.progress(f"check: {work.derivations:,} derivations in {work.rounds:,} rounds")
    constraints = RuleChange(mode.rules(engine, old, update.I), mode.rules(engine, new, outcome.I))
    check_constraints(engine, constraints, outcome, strict=options.strict)
    found = new_inconsistencies(engine, constraints, outcome)
    notes = tuple(_import_notes(engine, update))
    applied = AppliedChange(
        backend.name, before, after, options, update, outcome, choice, 0.0, read.bad_lines, notes, found
    )
    return applied if applied.has_effect else replace(applied, after=replace(after, version=before.version))


_IMPORT = parse_rules("missing(?o, ?i) :- [?o, owl:imports, ?i], ~known(?i) .")[0]
_KNOWN = parse_rules("known(?i) :- [?i, rdf:type, owl:Ontology] . known(?i) :- [?o, owl:versionIRI, ?i] .")


def _import_notes(engine: Engine[F], update: Update[F]) -> list[str]:
    """A sentence for each ontology that an added fact imports and that no explicit fact declares."""
    if not update.added.may_match(_IMPORT.atoms[0]):
        return []
    known = engine.derive([all_from(rule, update.E) for rule in _KNOWN], Work())
    found = engine.derive([with_sources(_IMPORT, (update.added, known))], Work())
    return [f"{s} imports {o}, which is not loaded; load that file too" for s, o in sorted(fact.args for fact in found)]


class ReadUpdate(NamedTuple, Generic[F]):
    """The facts of a request, what the algorithm gets, and the number of bad lines that were left out."""

    add: F
    remove: F
    update: Update[F]
    bad_lines: int


def read_update(backend: Backend[F], before: State, after: State, request: ChangeRequest) -> ReadUpdate[F]:
    """Read the facts of a request. A fact that is removed and added stays.

    Bad lines may be left out only of the facts to add.
    """
    arities = {**before.E.arities(), **after.arities}
    add, bad_lines = backend.read(request.add, arities, request.options)
    remove, _ = backend.read(request.remove, arities, request.options.without_bad_lines())
    E, I, algorithm_state = backend.facts(before)
    if request.replaced is not None:
        for relation in _replaced_relations(add, request.replaced):
            remove = remove | (E.of_predicate(relation) - add)
    rules = before.program
    if after.program is not rules:
        rules = RuleChange(rules.after, after.program.after)
    removed, added = (remove - add) & E, add - E
    update = Update(backend.engine, rules, (E - remove) | add, I, removed, added, Work(), algorithm_state)
    return ReadUpdate(add, remove, update, bad_lines)


def _replaced_relations(add: FactSet, named: Sequence[str]) -> Sequence[str]:
    """The relations that a request replaces. Facts of other relations are refused."""
    found = [name for name, count in add.predicates().items() if count]
    others = [name for name in found if named and name not in named]
    if others:
        raise InputError(f"the input has facts of {others[0]}, and {', '.join(named)} is to be replaced")
    return named or found


def state_after(engine: LocalEngine, before: State, request: ChangeRequest) -> State:
    """The next version, carried out in this process and not committed."""
    backend = LocalBackend(engine)
    applied = apply(backend, before, request)
    return backend.gather(applied).state(applied.after)


def recomputed(engine: LocalEngine, state: State) -> LocalFacts:
    """All consequences of the explicit facts, computed from scratch."""
    nothing, mode = engine.fact_set(()), mode_of(state.options)
    update = Update(engine, state.program, state.E, nothing, nothing, state.E, Work())
    return mode.algorithm("rematerialise")(update).I


def with_new_rules(before: State, request: ChangeRequest) -> State:
    """The next version with its rules changed and checked, its prefixes and its options; its facts are those before."""
    program, arities = before.program, before.arities
    rules = _change_rules(program.after, request.add.rules, request.remove_rules)
    if rules != program.after:
        arities = check_rules(rules, before.E.arities(), allow_cartesian=request.options.allow_cartesian)
        program = RuleChange(rules, rules)
        program.strata  # noqa: B018  refuses rules that cannot be ordered, before anything is done
    options = before.options
    prefixes, _ = request.add.merged_prefixes(before.prefixes)
    if request.remove_prefixes:
        prefixes = {p: iri for p, iri in prefixes.items() if p not in request.remove_prefixes}
    if request.options.settings:
        options = changed_options(before, request.options.settings)
    columns, _ = request.add.merged_columns(before.columns)
    if columns != before.columns:
        options = {**options, COLUMNS: columns}
    version = before.version + 1
    return replace(before, program=program, arities=arities, prefixes=prefixes, options=options, version=version)


def changed_options(before: State, settings: Mapping[str, object]) -> Mapping[str, object]:
    """The options after a change. How equality is treated cannot change once there is a version."""
    asked, chosen = settings.get("equality"), before.options.get("equality", OFF)
    if asked is not None and asked not in MODES:
        raise UsageError(f"unknown equality {asked!r}; choose one of: {', '.join(MODES)}")
    if asked is not None and asked != chosen and before.version:
        raise UsageError(f"this knowledge base was made with equality={chosen!r}; make a new one for {asked!r}")
    return {**before.options, **settings}


def _change_rules(rules: Sequence[Rule], add: Iterable[Rule], remove: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules after a change. Rules that differ only in variable names are one rule; its attributes may be new."""
    changed = {r.key: r for r in rules}
    for rule in remove:
        if changed.pop(rule.key, None) is None:
            raise UsageError(f"cannot remove a rule that is not there: {rule}")
    for rule in add:
        old = changed.get(rule.key)
        if old is None or (old.bound, old.cartesian, old.report) != (rule.bound, rule.cartesian, rule.report):
            changed[rule.key] = rule
    return tuple(changed.values())
