"""Rules that differ only in constants are run as one rule.

An ontology gives hundreds of rules of a few shapes:

    [?x, rdf:type, ub:Person] :- [?x, rdf:type, ub:Student] .
    [?x, rdf:type, ub:Work] :- [?x, rdf:type, ub:Course] .

For a small change the cost of a rule is not its matches but the test whether it has any. So the rules of one shape
(a family) become one rule, with their constants in a relation:

    [?0, rdf:type, ?1] :- (constants)(?1, ?2), [?0, rdf:type, ?2] .

The predicate of a triple is not lifted, because it selects the table to read. Matches and derivations are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from tidelog import tuning
from tidelog.algebra.sourced_rule import SourcedRule
from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import WHOLE, LocalFacts, smallest
from tidelog.kernel.rows import layout_for
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table
from tidelog.model.terms import TRIPLE, Term
from tidelog.rules.syntax import (
    Aggregate,
    Assignment,
    Atom,
    Call,
    Condition,
    Expression,
    Literal,
    Negation,
    Rule,
    Variable,
)

CONSTANTS = "(constants)"


@dataclass(frozen=True)
class _LiftedRule:
    """A rule as the rule of its family and its own constants."""

    family: Rule
    constants: tuple[Term, ...]


class RuleGrouping:
    """Groups rules for one dictionary."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._tables: dict[tuple[tuple[Term, ...], ...], LocalFacts] = {}

    def grouped(self, rules: Sequence[SourcedRule[LocalFacts]]) -> list[SourcedRule[LocalFacts]]:
        """Fewer rules with the same matches."""
        if len(rules) < 2 or smallest(rules[0].sources) > tuning.GROUPED_FACTS:
            return list(rules)
        return self._grouped(rules)

    def group_stably(
        self, some: Sequence[Rule], rules: Sequence[Rule], with_sources: Callable[[Rule], SourcedRule[LocalFacts]]
    ) -> list[SourcedRule[LocalFacts]]:
        """The groups of the rules in `some`, each with all its members among `rules`: a rule is always run in the same
        group.
        """
        wanted = {_family(rule) for rule in some}
        return self._grouped([with_sources(rule) for rule in rules if _family(rule) in wanted])

    def _grouped(self, rules: Sequence[SourcedRule[LocalFacts]]) -> list[SourcedRule[LocalFacts]]:
        groups: dict[tuple[Rule, tuple[int, ...]], dict[tuple[Term, ...], SourcedRule[LocalFacts]]] = {}
        alone: list[SourcedRule[LocalFacts]] = []
        for sourced in rules:
            member = _lifted(sourced.rule)
            if member is None:
                alone.append(sourced)
                continue
            group = groups.setdefault((member.family, tuple(map(id, sourced.sources))), {})
            if member.constants in group:  # the same rule twice: its matches are counted twice
                alone.append(sourced)
            group.setdefault(member.constants, sourced)
        return [*alone, *(self._as_one_rule(family, group) for (family, _), group in groups.items())]

    def _as_one_rule(
        self, family: Rule, group: Mapping[tuple[Term, ...], SourcedRule[LocalFacts]]
    ) -> SourcedRule[LocalFacts]:
        sourced = next(iter(group.values()))
        if len(group) == 1:
            return sourced
        first, *others = sourced.sources
        return SourcedRule(family, (first, self._table(tuple(group)), *others))

    def _table(self, rows: tuple[tuple[Term, ...], ...]) -> LocalFacts:
        known = self._tables.get(rows)
        if known is None:
            if len(self._tables) > 10_000:
                self._tables.clear()
            ids = np.array([[self.dictionary.encode(t) for t in row] for row in rows], dtype=np.int64)
            layout = layout_for(ids.shape[1], len(self.dictionary))
            run = Run.of(layout, list(ids.T), len(rows))
            known = self._tables[rows] = LocalFacts(self.dictionary, {(CONSTANTS, WHOLE): Table((run,))})
        return known


@lru_cache(maxsize=20_000)
def _lifted(rule: Rule) -> _LiftedRule | None:
    """None if a rule has no constants, has an aggregate, or has a body that does not start with an atom."""
    if rule.aggregate is not None or not rule.body or not isinstance(rule.body[0], Atom):
        return None
    lifting = _Lifting()
    shape = replace(
        rule,
        heads=tuple(lifting.atom(h) for h in rule.heads),
        body=tuple(map(lifting.literal, rule.body)),
        name=None,
        location=None,
    )
    if not lifting.constants:
        return None
    first, *others = shape.body
    constants = Atom(CONSTANTS, tuple(Variable(f"{i}'") for i in range(len(lifting.constants))))
    return _LiftedRule(_shared(replace(shape, body=(first, constants, *others))), tuple(lifting.constants))


def _family(rule: Rule) -> Rule:
    """The rule of the family; a rule without family is its own."""
    member = _lifted(rule)
    return rule if member is None else member.family


@lru_cache(maxsize=20_000)
def _shared(family: Rule) -> Rule:
    """One object for equal families."""
    return family


class _Lifting:
    """Renames variables in order of appearance and replaces constants by variables."""

    def __init__(self) -> None:
        self.constants: list[Term] = []
        self.names: dict[Variable, Variable] = {}

    def variable(self, variable: Variable) -> Variable:
        return self.names.setdefault(variable, Variable(str(len(self.names))))

    def atom(self, atom: Atom) -> Atom:
        return replace(atom, args=tuple(self._args(atom)))

    def _args(self, atom: Atom) -> Iterator[Variable | Term | Aggregate]:
        for position, arg in enumerate(atom.args):
            if isinstance(arg, Variable):
                yield self.variable(arg)
            elif isinstance(arg, Aggregate) or (atom.predicate == TRIPLE and position == 1):
                yield arg
            else:
                self.constants.append(arg)
                yield Variable(f"{len(self.constants) - 1}'")

    def literal(self, literal: Literal) -> Literal:
        if isinstance(literal, Atom):
            return self.atom(literal)
        if isinstance(literal, Negation):
            return Negation(self.atom(literal.atom))
        if isinstance(literal, Condition):
            return Condition(self.expression(literal.expression))
        return Assignment(self.variable(literal.variable), self.expression(literal.expression))

    def expression(self, expression: Expression) -> Expression:
        if isinstance(expression, Variable):
            return self.variable(expression)
        if isinstance(expression, Call):
            return Call(expression.function, tuple(map(self.expression, expression.args)))
        return expression
