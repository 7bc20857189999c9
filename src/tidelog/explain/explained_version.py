"""One version of a knowledge base to be explained: its stored facts, and its rules, numbered and indexed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Generic, NamedTuple, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import SourcedRule, all_from, with_body, with_positive_sources
from tidelog.model.terms import TRIPLE, Fact, Term
from tidelog.rules.syntax import Aggregate, Assignment, Atom, Rule, Variable

F = TypeVar("F", bound=FactSet)

Binding = Mapping[Variable, Term]
BoundValues = dict[Variable, Term]

_HeadKey = tuple[str, Term | None, Term | None]

VALUE = Variable("#value")  # stands for the value of an aggregate; no program can use this name


class NumberedRule(NamedTuple):
    """A rule and its number among the rules of the knowledge base, from 1."""

    number: int
    rule: Rule

    @property
    def label(self) -> str:
        return f"rule {self.rule.name or self.number}"


@dataclass(frozen=True)
class HeadRule:
    """A rule and one of its heads."""

    numbered: NumberedRule
    head: Atom  # contains the variable `VALUE` in place of an aggregate

    @property
    def rule(self) -> Rule:
        return self.numbered.rule

    def values_of(self, fact: Fact) -> BoundValues:
        """The values of the head's variables for which the head is `fact`."""
        return {a: t for a, t in zip(self.head.args, fact.args, strict=True) if isinstance(a, Variable)}

    @property
    def earlier_heads(self) -> tuple[Atom, ...]:
        """The heads of the rule that stand before this one."""
        heads = self.rule.heads
        return heads[: heads.index(self.head)] if self.head in heads else ()

    @cached_property
    def guarded(self) -> Rule:
        """The rule with the head added in front of its body."""
        return with_body(self.rule, self.head)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        return variables_of(self.guarded)


class RuleIndex:
    """The rules of a knowledge base, by kind and by head."""

    def __init__(self, rules: tuple[NumberedRule, ...]) -> None:
        self.axioms = tuple(n for n in rules if not n.rule.body)
        self.aggregates = tuple(n for n in rules if n.rule.aggregate is not None)
        plain = [n for n in rules if n.rule.body and n.rule.aggregate is None]
        self.unconditional = tuple(n for n in plain if not n.rule.atoms)  # rules without positive atoms
        self.plain = tuple(n.rule for n in plain if n.rule.atoms)
        self.guarded = tuple(with_body(r, h) for r in self.plain for h in r.heads)
        self._by_head: dict[_HeadKey, list[HeadRule]] = {}
        self._by_name: dict[str, list[HeadRule]] = {}
        for numbered in rules:
            for head in dict.fromkeys(_plain_head(h) for h in numbered.rule.heads):
                head_rule = HeadRule(numbered, head)
                self._by_head.setdefault(_key(head), []).append(head_rule)
                self._by_name.setdefault(head.predicate, []).append(head_rule)

    def head_rules(self, atom: Atom | Fact) -> Iterator[HeadRule]:
        """The rules with heads that may be unified with a fact or an atom."""
        name, predicate, object_ = _key(atom)
        found = self._by_name.get(name, [])
        if predicate and object_:
            keys = product((name,), (predicate, None), (object_, None))
            found = [w for key in keys for w in self._by_head.get(key, ())]
        return (w for w in found if agree(w.head, atom))

    def of_predicate(self, predicate: str) -> list[HeadRule]:
        """The rules with a head of this predicate."""
        return self._by_name.get(predicate, [])


@lru_cache(maxsize=16)
def _index(rules: tuple[NumberedRule, ...], names: tuple[str | None, ...]) -> RuleIndex:
    """The index, cached: many facts have the same rules. `names` is part of the key: equal rules may differ in name."""
    return RuleIndex(rules)


@dataclass(frozen=True)
class ExplainedVersion(Generic[F]):
    """The explicit facts E and all facts I as they are stored, and the rules as they run on stored facts."""

    engine: Engine[F]
    E: F
    I: F
    rules: tuple[NumberedRule, ...]
    prefixes: Mapping[str, str]

    @cached_property
    def index(self) -> RuleIndex:
        return _index(self.rules, tuple(n.rule.name for n in self.rules))

    @cached_property
    def axioms(self) -> F:
        """The facts that rules without a body state."""
        return self.engine.derive([all_from(n.rule, self.I) for n in self.index.axioms], Work())

    @cached_property
    def ground(self) -> F:
        """The facts that need no proof: explicit facts and axioms."""
        return self.E | self.axioms if self.index.axioms else self.E

    @cached_property
    def unconditional(self) -> F:
        """The facts derived by rules without positive atoms. Such rules may compute, and may negate atoms."""
        return self.engine.derive([all_from(n.rule, self.I) for n in self.index.unconditional], Work())

    def derivable(self, head_rule: HeadRule, goals: F) -> F:
        """The goals that the rule derives. Those of an aggregate are derived again: a goal may share only the group."""
        if VALUE not in head_rule.head.args:
            return goals
        return goals & self.engine.derive([all_from(head_rule.rule, self.I)], Work())

    def holds(self, fact: Fact) -> bool:
        return bool(self.one(fact) & self.I)

    def one(self, fact: Fact) -> F:
        return self.engine.fact_set((fact,))

    def instances(self, head_rule: HeadRule, guards: F, facts: F, limit: int | None = None) -> Iterator[BoundValues]:
        """Yield the bindings with which the rule derives one of `guards` from `facts`."""
        for row in self.engine.instances(self.sourced(head_rule.guarded, guards, facts), head_rule.variables, limit):
            yield dict(zip(head_rule.variables, row, strict=True))

    def steps(self, head_rule: HeadRule, fact: Fact, facts: F, limit: int | None = None) -> Iterator[BoundValues]:
        """Yield the bindings with which the rule derives `fact` from `facts`."""
        head = head_rule.values_of(fact)
        others = [v for v in head_rule.variables if v not in head]
        for row in self.engine.instances(self.sourced(head_rule.guarded, self.one(fact), facts), others, limit):
            yield {**head, **dict(zip(others, row, strict=True))}

    def sourced(self, guarded: Rule, guards: F, facts: F) -> SourcedRule[F]:
        """The rule with its first atom read from `guards`, other positive atoms from `facts`, negated atoms from I."""
        return with_positive_sources(guarded, (guards, *[facts] * (len(guarded.atoms) - 1)), self.I)


def variables_of(rule: Rule) -> tuple[Variable, ...]:
    """The variables that have a value in every match of the rule."""
    atoms = [v for atom in rule.atoms for v in atom.variables()]
    return tuple(dict.fromkeys([*atoms, *(b.variable for b in rule.body if isinstance(b, Assignment))]))


def ground_atom(atom: Atom, binding: Binding) -> Fact:
    """The fact that the atom becomes. `binding` must have a value for every variable."""
    return Fact(atom.predicate, tuple(binding[a] if isinstance(a, Variable) else a for a in atom.args))  # type: ignore[misc]


def premises(rule: Rule, binding: Binding) -> tuple[Fact, ...]:
    """The facts that the positive atoms become, in their order."""
    return tuple(ground_atom(atom, binding) for atom in rule.atoms)


def agree(head: Atom, other: Atom | Fact) -> bool:
    """Whether the two may be the same fact, judged by constants and by repeated variables of `head`."""
    if head.predicate != other.predicate or len(head.args) != len(other.args):
        return False
    bound: dict[Variable, object] = {}
    for mine, theirs in zip(head.args, other.args, strict=True):
        if isinstance(theirs, Variable):
            continue
        if theirs != (bound.setdefault(mine, theirs) if isinstance(mine, Variable) else mine):
            return False
    return True


def _plain_head(head: Atom) -> Atom:
    if not any(isinstance(a, Aggregate) for a in head.args):
        return head
    return replace(head, args=tuple(VALUE if isinstance(a, Aggregate) else a for a in head.args))


def _key(atom: Atom | Fact) -> _HeadKey:
    """The index key of an atom. Triples are distinguished by predicate and object."""
    if atom.predicate != TRIPLE or len(atom.args) != 3:
        return atom.predicate, None, None
    _, name, object_ = (a if isinstance(a, str) else None for a in atom.args)
    return atom.predicate, name, object_
