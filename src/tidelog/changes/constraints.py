"""Constraints: `:- body .` must have no match; a change that leads to one is refused.

Before the change there was no match, so a new one has an atom among the facts that were added, or a negated atom whose
match was removed. Only those are looked for, except for constraints that are new themselves:

    plus[Bi], B1[I] .. Bn[I]          minus[Nj], B1[I] .. Bn[I]

A constraint with `#[report]` is looked at only if `strict`: its matches are allowed and listed (`inconsistencies`).

What contradicts what: matches of constraints to be reported, such as the OWL 2 RL rules that conclude false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, overload

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import SourcedRule, all_from, pivoted, with_sources
from tidelog.algorithms.update import Outcome, RuleChange
from tidelog.errors import ConstraintError
from tidelog.model.terms import Fact, Term, Value, is_helper, to_value
from tidelog.rules.analysis.normalise import pivot_on_negation, replace_in_literal
from tidelog.rules.printer import format_fact, format_term
from tidelog.rules.syntax import Atom, Literal, Rule, Variable

F = TypeVar("F", bound=FactSet)

_SHOWN = 3


def check_constraints(engine: Engine[F], program: RuleChange, outcome: Outcome[F], *, strict: bool = False) -> None:
    """Raise for the first constraint that the change gives a match, with a few of its matches."""
    for rule, touched in _new_matches(program, outcome, strict):
        for extended in touched:
            _refuse_match(engine, rule, extended)


def _new_matches(
    program: RuleChange, outcome: Outcome[F], strict: bool
) -> Iterator[tuple[Rule, Iterable[SourcedRule[F]]]]:
    """Yield each constraint with the joins that find its new matches: those to refuse, and if strict the others too."""
    old = set() if program.before is program.after else {(r.key, r.report) for r in program.before if r.is_constraint}
    for rule in program.after:
        if rule.is_constraint and (strict or not rule.report):
            known = program.before is program.after or (rule.key, rule.report) in old
            yield rule, _touched(rule, outcome) if known else [all_from(rule, outcome.I)]


def _touched(rule: Rule, outcome: Outcome[F]) -> Iterator[SourcedRule[F]]:
    """The matches of a constraint that the change may have led to; one may be found more than once."""
    I = outcome.I
    yield from pivoted(rule, I, outcome.added, I, I)
    for i, negation in enumerate(rule.negations):
        if outcome.removed.may_match(negation.atom):
            yield with_sources(pivot_on_negation(rule, i), (outcome.removed, *all_from(rule, I).sources))


def _refuse_match(engine: Engine[F], rule: Rule, extended: SourcedRule[F]) -> None:
    variables = list(dict.fromkeys(v for a in rule.atoms for v in a.variables() if not v.name.startswith("_")))
    found = list(engine.instances(extended, variables, limit=_SHOWN + 1))
    if found:
        shown = [_match(variables, row) for row in found[:_SHOWN]]
        more = " …" if len(found) > _SHOWN else ""
        raise ConstraintError(f"the constraint {rule} has a match: {'; '.join(shown)}{more}\nNothing was changed.")


def _match(variables: Sequence[Variable], row: Sequence[str]) -> str:
    return ", ".join(f"{v} = {format_term(t)}" for v, t in zip(variables, row, strict=True)) or "its body holds"  # type: ignore[arg-type]


@dataclass(frozen=True)
class Inconsistency:
    """A rule that concluded false, and the facts it matched.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(
    ...     add="[cat, owl:disjointWith, dog] . [rex, rdf:type, cat] . [rex, rdf:type, dog] .",
    ...     add_rules=tidelog.rulesets.OWL2RL,
    ... )
    >>> print(*kb.inconsistencies())
    cax-dw: [cat, owl:disjointWith, dog] . [rex, rdf:type, cat] . [rex, rdf:type, dog] .
    """

    rule: Rule
    matched: tuple[Fact, ...]
    body: tuple[Literal, ...] = field(default=(), repr=False, compare=False)  # the rule's body with the values

    @property
    def name(self) -> str:
        """The rule's name, or its text if it has none."""
        return self.rule.name or str(self.rule)

    @property
    def facts(self) -> list[tuple[Value, ...]]:
        """The facts as rows `(predicate, argument, …)`, like those of `KnowledgeBase.all_facts`."""
        return [(fact.predicate, *map(to_value, fact.args)) for fact in self.matched]

    def __str__(self) -> str:
        return f"{self.name}: {' '.join(map(format_fact, self.matched))}"


def inconsistencies(engine: Engine[F], rules: Sequence[Rule], I: F, limit: int | None = None) -> list[Inconsistency]:
    """The matches in I of the constraints that are reported, at most `limit` of each; equal facts are listed once."""
    found = (i for rule in rules if rule.is_constraint and rule.report for i in _matches(engine, rule, I, limit))
    return list(_distinct(found))


def _matches(engine: Engine[F], rule: Rule, I: F, limit: int | None) -> Iterator[Inconsistency]:
    variables = list(dict.fromkeys(v for atom in rule.atoms for v in atom.variables()))
    for row in engine.instances(all_from(rule, I), variables, limit):
        yield _inconsistency(rule, dict(zip(variables, row, strict=True)))


def _inconsistency(rule: Rule, binding: Mapping[Variable, Term]) -> Inconsistency:
    body = tuple(replace_in_literal(literal, binding) for literal in rule.body)
    atoms = (atom for atom in body if isinstance(atom, Atom) and not is_helper(atom.predicate))
    return Inconsistency(rule, tuple(Fact(atom.predicate, atom.args) for atom in atoms), body)  # type: ignore[arg-type]


class NewInconsistencies(Sequence[Inconsistency]):
    """The inconsistencies that a change has led to. They are searched when they are first read.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="[cat, owl:disjointWith, dog] .", add_rules=tidelog.rulesets.OWL2RL)
    >>> change = kb.apply(add="[rex, rdf:type, cat] . [rex, rdf:type, dog] .")
    >>> len(change.inconsistencies), change.inconsistencies[0].name
    (1, 'cax-dw')
    """

    def __init__(self, find: Callable[[], Iterable[Inconsistency]]) -> None:
        self._find = find

    @cached_property
    def _found(self) -> list[Inconsistency]:
        return list(self._find())

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Inconsistency: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Inconsistency]: ...
    def __getitem__(self, index: int | slice) -> Inconsistency | Sequence[Inconsistency]:
        return self._found[index]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (self._found,)


def new_inconsistencies(engine: Engine[F], program: RuleChange, outcome: Outcome[F]) -> NewInconsistencies:
    """The matches that a change gives to constraints that are reported.

    A change without such constraints keeps no facts alive.
    """
    reported = RuleChange(*(tuple(r for r in rules if r.report) for rules in (program.before, program.after)))
    if not reported.after:
        return NewInconsistencies(tuple)
    return NewInconsistencies(lambda: _find_new(engine, reported, outcome))


def _find_new(engine: Engine[F], reported: RuleChange, outcome: Outcome[F]) -> Iterator[Inconsistency]:
    """Search all constraints in one call of the engine: the matches are facts of one generated relation for each."""
    heads: dict[str, tuple[Rule, list[Variable]]] = {}
    joins: list[SourcedRule[F]] = []
    for rule, touched in _new_matches(reported, outcome, strict=True):
        variables = list(dict.fromkeys(v for atom in rule.atoms for v in atom.variables()))
        head = Atom(f"(inconsistency {len(heads)})", tuple(variables))
        heads[head.predicate] = rule, variables
        joins += (SourcedRule(replace(j.rule, heads=(head,), cartesian=True), j.sources) for j in touched)
    matches = engine.derive(joins, Work())
    for predicate in [each for each in heads if each in matches.predicates()]:
        rule, variables = heads[predicate]
        bindings = (dict(zip(variables, fact.args, strict=True)) for fact in sorted(matches.of_predicate(predicate)))
        yield from _distinct(_inconsistency(rule, binding) for binding in bindings)


def _distinct(found: Iterable[Inconsistency]) -> Iterable[Inconsistency]:
    """One inconsistency for each rule and set of facts."""
    return {(each.name, frozenset(each.matched)): each for each in found}.values()
