"""Rules that differ only in constants run as one.

An ontology gives hundreds of rules of a few shapes:

    [?x, rdf:type, ub:Person] :- [?x, rdf:type, ub:Student] .
    [?x, rdf:type, ub:Work] :- [?x, rdf:type, ub:Course] .

When little has changed, what a rule costs is not its matches but being looked at. So the rules of one shape become one
rule with the constants in a relation of their own:

    [?0, rdf:type, ?1] :- (constants)(?1, ?2), [?0, rdf:type, ?2] .

A triple's predicate is not lifted: it says which table to read. Matches, and so derivations, are the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

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
Extend = Callable[[Rule], SourcedRule[LocalFacts]]
_SMALL = 20_000  # facts in the smallest source up to which looking at rules is what costs


@dataclass(frozen=True)
class _Member:
    """A rule as a member of a family: the family's rule, and this rule's constants."""

    family: Rule
    constants: tuple[Term, ...]


class Families:
    """Groups extended rules for one dictionary."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._tables: dict[tuple[tuple[Term, ...], ...], LocalFacts] = {}

    def united(self, rules: Sequence[SourcedRule[LocalFacts]]) -> list[SourcedRule[LocalFacts]]:
        """The same matches from fewer rules."""
        return list(rules) if len(rules) < 2 or smallest(rules[0].sources) > _SMALL else self._united(rules)

    def united_as_ever(
        self, some: Sequence[Rule], rules: Sequence[Rule], extend: Extend
    ) -> list[SourcedRule[LocalFacts]]:
        """Some of the rules, with all others of their families: whatever is asked, a rule runs with the same ones."""
        wanted = {_family(rule) for rule in some}
        return self._united([extend(rule) for rule in rules if _family(rule) in wanted])

    def _united(self, rules: Sequence[SourcedRule[LocalFacts]]) -> list[SourcedRule[LocalFacts]]:
        groups: dict[tuple[Rule, tuple[int, ...]], dict[tuple[Term, ...], SourcedRule[LocalFacts]]] = {}
        alone: list[SourcedRule[LocalFacts]] = []
        for extended in rules:
            member = _member(extended.rule)
            if member is None:
                alone.append(extended)
                continue
            group = groups.setdefault((member.family, tuple(map(id, extended.sources))), {})
            if member.constants in group:  # the same rule twice: its matches count twice
                alone.append(extended)
            group.setdefault(member.constants, extended)
        return [*alone, *(self._unite(family, group) for (family, _), group in groups.items())]

    def _unite(
        self, family: Rule, group: Mapping[tuple[Term, ...], SourcedRule[LocalFacts]]
    ) -> SourcedRule[LocalFacts]:
        extended = next(iter(group.values()))
        if len(group) == 1:
            return extended
        first, *others = extended.sources
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
def _member(rule: Rule) -> _Member | None:
    """None for rules that cannot be lifted: no constants, an aggregate, or a body that does not start with an atom."""
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
    return _Member(_shared(replace(shape, body=(first, constants, *others))), tuple(lifting.constants))


def _family(rule: Rule) -> Rule:
    """What is the same for all rules of a family; a rule that has none is alone."""
    member = _member(rule)
    return rule if member is None else member.family


@lru_cache(maxsize=20_000)
def _shared(family: Rule) -> Rule:
    """One object for equal families."""
    return family


class _Lifting:
    """Renames variables in order of appearance and takes the constants out."""

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
