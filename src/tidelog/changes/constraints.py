"""Constraints: `:- body .` must have no match; a change that leads to one is refused.

Before the change there was no match, so a new one has an atom among the facts that were added, or a negated atom whose
match was removed. Only those are looked for, except for constraints that are new themselves:

    plus[Bi], B1[I] .. Bn[I]          minus[Nj], B1[I] .. Bn[I]

A constraint with `#[report]` is looked at only if `strict`: its matches are allowed and listed (`inconsistencies`).

What contradicts what: matches of constraints to be reported, such as the OWL 2 RL rules that conclude false.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tidelog.algebra.engine import Engine
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import SourcedRule, all_from, pivoted, with_sources
from tidelog.algorithms.update import Outcome, RuleChange
from tidelog.errors import ConstraintError
from tidelog.model.terms import Fact, Term, Value, is_helper, to_value
from tidelog.rules.analysis.normalise import pivot_on_negation
from tidelog.rules.printer import format_fact, format_term
from tidelog.rules.syntax import Rule, Variable

F = TypeVar("F", bound=FactSet)

_SHOWN = 3


def check_constraints(engine: Engine[F], program: RuleChange, outcome: Outcome[F], *, strict: bool = False) -> None:
    """Raise for the first constraint that the change gives a match, with a few of its matches."""
    old = set() if program.before is program.after else {(r.key, r.report) for r in program.before if r.is_constraint}
    for rule in program.after:
        if rule.is_constraint and (strict or not rule.report):
            known = program.before is program.after or (rule.key, rule.report) in old
            for extended in _touched(rule, outcome) if known else [all_from(rule, outcome.I)]:
                _refuse_match(engine, rule, extended)


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
    return list({(i.name, frozenset(i.matched)): i for i in found}.values())


def _matches(engine: Engine[F], rule: Rule, I: F, limit: int | None) -> Iterator[Inconsistency]:
    variables = list(dict.fromkeys(v for atom in rule.atoms for v in atom.variables()))
    for row in engine.instances(all_from(rule, I), variables, limit):
        yield Inconsistency(rule, tuple(_facts(rule, dict(zip(variables, row, strict=True)))))


def _facts(rule: Rule, binding: dict[Variable, Term]) -> Iterator[Fact]:
    """The facts of a match, without what a rule set only keeps for itself."""
    for atom in rule.atoms:
        if not is_helper(atom.predicate):
            args = (binding[a] if isinstance(a, Variable) else a for a in atom.args)
            yield Fact(atom.predicate, tuple(args))  # type: ignore[arg-type]
