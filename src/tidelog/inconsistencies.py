"""What contradicts what: matches of constraints to be reported, such as the OWL 2 RL rules that conclude false."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tidelog.algebra.engine import Engine
from tidelog.algebra.extended import over
from tidelog.algebra.fact_set import FactSet
from tidelog.model.facts import Fact
from tidelog.model.terms import Term, Value, to_value
from tidelog.model.vocabulary import RULESET
from tidelog.rules.printer import format_fact
from tidelog.rules.syntax import Rule, Variable

F = TypeVar("F", bound=FactSet)


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
    for row in engine.instances(over(rule, I), variables, limit):
        yield Inconsistency(rule, tuple(_facts(rule, dict(zip(variables, row, strict=True)))))


def _facts(rule: Rule, binding: dict[Variable, Term]) -> Iterator[Fact]:
    """The facts of a match, without what a rule set only keeps for itself."""
    for atom in rule.atoms:
        if not atom.predicate.startswith(RULESET):
            args = (binding[a] if isinstance(a, Variable) else a for a in atom.args)
            yield Fact(atom.predicate, tuple(args))  # type: ignore[arg-type]
