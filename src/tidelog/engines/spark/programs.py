"""Rules made ready for tasks: plans that are kept while sizes stay alike, and the constants they name."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tidelog.dictionary import Dictionary
from tidelog.engines.spark.nodes import Node
from tidelog.engines.spark.plan import Plan, plan
from tidelog.engines.spark.specs import Part, part_of
from tidelog.model.terms import Term
from tidelog.model.vocabulary import TRIPLE
from tidelog.rules.syntax import Assignment, Atom, Call, Condition, Expression, Literal, Negation, Rule

_KEPT = 4_096  # plans
_SKEWED = 8  # a value with this share of the rows of a relation, or more, makes a bad home: one of so many


@dataclass(frozen=True, eq=False)
class Prepared:
    """A plan, and as it is sent."""

    plan: Plan
    pickled: bytes
    constants: tuple[Term, ...]
    looks_at_terms: bool


class Programs:
    """The plans of one engine."""

    def __init__(self, dictionary: Dictionary, few: int) -> None:
        self.dictionary = dictionary
        self.few = few
        self._prepared: dict[tuple[Rule, tuple[int, ...], tuple[bool, ...]], Prepared] = {}

    def prepare(self, rule: Rule, sources: Sequence[Node]) -> Prepared:
        atoms = atoms_of(rule)
        parts = [part_of(atom, self.dictionary.encode) for atom in atoms]
        sizes = [node.reading(part) for node, part in zip(sources, parts, strict=True)]
        skewed = tuple(_is_skewed(node, part) for node, part in zip(sources, parts, strict=True))
        key = rule, tuple(-1 if size <= self.few else size.bit_length() for size in sizes), skewed
        found = self._prepared.get(key)
        if found is None:
            if len(self._prepared) >= _KEPT:
                self._prepared.clear()
            found = self._prepared[key] = self._make(rule, sizes, skewed)
        return found

    def _make(self, rule: Rule, sizes: Sequence[int], skewed: Sequence[bool]) -> Prepared:
        atoms = atoms_of(rule)

        def is_skewed(source: int, argument: int) -> bool:
            return skewed[source] and argument == (2 if atoms[source].predicate == TRIPLE else 1)

        # A copy, because what a rule remembers about itself (its hash) is not true in other processes.
        made = plan(replace(rule), sizes, self.few, is_skewed)
        terms = any(not isinstance(b, Atom | Negation) for b in rule.body) or rule.aggregate is not None
        return Prepared(made, pickle.dumps(made), tuple(dict.fromkeys(constants_of(rule))), terms)


def _is_skewed(node: Node, part: Part) -> bool:
    """Whether few values are most of the second column of what is read."""
    stats = node.now().stats
    for stat in map(stats.__getitem__, part.among(stats)):
        if stat.popular and max(stat.popular.values()) * _SKEWED > stat.rows:
            return True
    return False


def atoms_of(rule: Rule) -> list[Atom]:
    """The atoms that read a source, negated ones too, in order."""
    return [b if isinstance(b, Atom) else b.atom for b in rule.body if isinstance(b, Atom | Negation)]


def constants_of(rule: Rule) -> Iterator[Term]:
    """All terms that a rule names."""
    for atom in (*rule.heads, *atoms_of(rule)):
        yield from (Term(a) for a in atom.args if isinstance(a, str))
    for literal in rule.body:
        yield from _constants_in(literal)


def _constants_in(literal: Literal) -> Iterator[Term]:
    if isinstance(literal, Condition | Assignment):
        yield from _terms(literal.expression)


def _terms(expression: Expression) -> Iterator[Term]:
    if isinstance(expression, Call):
        for arg in expression.args:
            yield from _terms(arg)
    elif isinstance(expression, str):
        yield Term(expression)
