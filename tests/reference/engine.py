"""The three verbs by nested loops over Python sets.

A match is a binding of every variable of the body's atoms and assignments. Body literals are taken in order, except
that one whose variables are not bound yet waits; so the answer does not depend on how a rule is written.

A fact set that is a frozenset of facts.

A tally that is a dictionary from facts to counts.

The stratified least model by the book: apply every rule of a stratum to everything until nothing is new.

The verb `supports` by nested loops: a window on the sorted matches of each guard fact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import count, islice

from tidelog.algebra.engine import Work, proofs_by_supports
from tidelog.algebra.sourced_rule import SourcedRule, all_from, guarded, pivoted
from tidelog.model.terms import Fact, Term
from tidelog.rules.analysis.strata import Stratum, stratify
from tidelog.rules.expressions import aggregate, evaluate, holds
from tidelog.rules.syntax import (
    Aggregate,
    Assignment,
    Atom,
    Condition,
    Literal,
    Negation,
    Rule,
    Variable,
    expression_variables,
)


class ReferenceFacts:
    """Facts in a frozenset; `of` lists those of one predicate."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._facts = frozenset(facts)

    @cached_property
    def _by_predicate(self) -> dict[str, list[Fact]]:
        found: dict[str, list[Fact]] = {}
        for fact in self._facts:
            found.setdefault(fact.predicate, []).append(fact)
        return found

    def of(self, predicate: str) -> list[Fact]:
        return self._by_predicate.get(predicate, [])

    def __len__(self) -> int:
        return len(self._facts)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._facts)

    def __contains__(self, fact: object) -> bool:
        return fact in self._facts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReferenceFacts) and self._facts == other._facts

    def __hash__(self) -> int:
        return hash(self._facts)

    def __repr__(self) -> str:
        return f"ReferenceFacts({sorted(self._facts)})"

    def __or__(self, other: ReferenceFacts) -> ReferenceFacts:
        return ReferenceFacts(self._facts | other._facts)

    def __sub__(self, other: ReferenceFacts) -> ReferenceFacts:
        return ReferenceFacts(self._facts - other._facts)

    def __and__(self, other: ReferenceFacts) -> ReferenceFacts:
        return ReferenceFacts(self._facts & other._facts)

    def predicates(self) -> dict[str, int]:
        return dict(Counter(fact.predicate for fact in self._facts))

    def arities(self) -> dict[str, int]:
        return {predicate: len(facts[0].args) for predicate, facts in self._by_predicate.items()}

    def count_of(self, predicate: str) -> int:
        return self.predicates().get(predicate, 0)

    def of_predicate(self, predicate: str) -> ReferenceFacts:
        return ReferenceFacts(self.of(predicate))

    def may_match(self, atom: Atom) -> bool:
        return bool(self.of(atom.predicate))


class ReferenceTally:
    """Facts and their counts; see `tidelog.algebra.fact_set`."""

    def __init__(self, counts: Mapping[Fact, int]) -> None:
        self._counts = {fact: count for fact, count in counts.items() if count}

    def __len__(self) -> int:
        return len(self._counts)

    def __iter__(self) -> Iterator[tuple[Fact, int]]:
        return iter(self._counts.items())

    def __add__(self, other: ReferenceTally) -> ReferenceTally:
        return self._combined(other, 1)

    def __sub__(self, other: ReferenceTally) -> ReferenceTally:
        return self._combined(other, -1)

    def _combined(self, other: ReferenceTally, sign: int) -> ReferenceTally:
        counts = dict(self._counts)
        for fact, number in other:
            counts[fact] = counts.get(fact, 0) + sign * number
        return ReferenceTally(counts)

    def counts_of(self, facts: Iterable[Fact]) -> ReferenceTally:
        return ReferenceTally({fact: self._counts.get(fact, 0) for fact in facts})

    def facts(self) -> ReferenceFacts:
        return ReferenceFacts(fact for fact, count in self if count > 0)


Binding = dict[Variable, Term]

_NOWHERE = ReferenceFacts()  # what comparisons and assignments read


class ReferenceEngine:
    """The algebra over `ReferenceFacts`."""

    def fact_set(self, facts: Iterable[Fact]) -> ReferenceFacts:
        return ReferenceFacts(facts)

    def derive(self, rules: Sequence[SourcedRule[ReferenceFacts]], work: Work) -> ReferenceFacts:
        return self.tally(rules, work).facts()

    def tally(self, rules: Sequence[SourcedRule[ReferenceFacts]], work: Work) -> ReferenceTally:
        counts: Counter[Fact] = Counter()
        for extended in rules:
            found = matches(extended)
            work.derivations += len(found)
            counts.update(conclusions(extended.rule, found))
        return ReferenceTally(counts)

    def ones(self, facts: ReferenceFacts) -> ReferenceTally:
        return ReferenceTally(dict.fromkeys(facts, 1))

    def derive_pivoted(
        self,
        rules: Sequence[Rule],
        left: ReferenceFacts,
        pivot: ReferenceFacts,
        right: ReferenceFacts,
        negated: ReferenceFacts,
        work: Work,
    ) -> ReferenceFacts:
        return self.derive([v for r in rules for v in pivoted(r, left, pivot, right, negated)], work)

    def supports(
        self,
        rules: Sequence[Rule],
        guards: ReferenceFacts,
        facts: ReferenceFacts,
        negated: ReferenceFacts,
        start: int,
        stop: int | None,
        work: Work,
    ) -> tuple[ReferenceFacts, ReferenceFacts]:

        return supports([guarded(r, guards, facts, negated) for r in rules], start, stop, work)

    def proofs(
        self,
        rules: Sequence[Rule],
        guards: ReferenceFacts,
        facts: ReferenceFacts,
        negated: ReferenceFacts,
        work: Work,
    ) -> tuple[ReferenceFacts, ReferenceFacts, ReferenceFacts]:
        return proofs_by_supports(self, rules, guards, facts, negated, work)

    def instances(
        self, rule: SourcedRule[ReferenceFacts], variables: Sequence[Variable], limit: int | None = None
    ) -> Iterator[tuple[Term, ...]]:
        rows = dict.fromkeys(tuple(binding[v] for v in variables) for binding in matches(rule))
        return islice(rows, limit)


def matches(extended: SourcedRule[ReferenceFacts]) -> list[Binding]:
    """Every substitution that satisfies the body, each once: it fixes the fact that each atom matches."""
    bindings: list[Binding] = [{}]
    for literal, number in _ordered(extended.rule):
        source = _NOWHERE if number is None else extended.sources[number]
        bindings = [longer for binding in bindings for longer in _extensions(literal, source, binding)]
        if not bindings:
            break
    return bindings


@lru_cache(maxsize=10_000)
def _ordered(rule: Rule) -> list[tuple[Literal, int | None]]:
    """The body literals in the order in which they are looked at, each with the number of its source, if it has one."""
    numbers = count()
    waiting = [(b, next(numbers) if isinstance(b, Atom | Negation) else None) for b in rule.body]
    binders = {variable for literal in rule.body for variable in _binds(literal)}
    bound: set[Variable] = set()
    order: list[tuple[Literal, int | None]] = []
    while waiting:
        position = next(i for i, (literal, _) in enumerate(waiting) if _needs(literal, binders) <= bound)
        order.append(waiting.pop(position))
        bound |= _binds(order[-1][0])
    return order


def conclusions(rule: Rule, found: Sequence[Binding]) -> Iterator[Fact]:
    """The head facts of the matches, one per match and head, or one per group of an aggregate rule."""
    if rule.aggregate is None:
        return (Fact(head.predicate, ground(head, binding)) for binding in found for head in rule.heads)
    return _grouped(rule, rule.aggregate, found)


def _grouped(rule: Rule, over: Aggregate, found: Sequence[Binding]) -> Iterator[Fact]:
    (head,) = rule.heads
    groups: dict[tuple[Term, ...], set[tuple[Term, ...]]] = {}
    for binding in found:
        row = tuple(binding[v] for v in over.args)
        groups.setdefault(ground(head, binding), set()).add(row)
    at = head.args.index(over)
    for key, rows in groups.items():
        value = aggregate(over.function, sorted(rows))
        if value is not None:
            yield Fact(head.predicate, (*key[:at], value, *key[at:]))


def ground(head: Atom, binding: Binding) -> tuple[Term, ...]:
    """The arguments of a head under a binding, without its aggregate."""
    return tuple(binding[a] if isinstance(a, Variable) else a for a in head.args if not isinstance(a, Aggregate))


def _binds(literal: Literal) -> set[Variable]:
    if isinstance(literal, Assignment):
        return {literal.variable}
    return set(literal.variables()) if isinstance(literal, Atom) else set()


def _needs(literal: Literal, binders: set[Variable]) -> set[Variable]:
    """The variables that must be bound before this literal is looked at.

    A variable of a negated atom that no atom or assignment binds (see `binders`) means "there is none".
    """
    if isinstance(literal, Atom):
        return set()
    if isinstance(literal, Negation):
        return set(literal.atom.variables()) & binders
    return set(expression_variables(literal.expression))


def _extensions(literal: Literal, source: ReferenceFacts, binding: Binding) -> Iterable[Binding]:
    """The binding as this literal extends it: not at all, or in one or more ways."""
    if isinstance(literal, Atom):
        return _matching(literal, source, binding)
    if isinstance(literal, Assignment):
        value = evaluate(literal.expression, binding)
        return [] if value is None else _unify((literal.variable,), (value,), binding)
    if isinstance(literal, Condition):
        return [binding] if holds(literal.expression, binding) else []
    return [] if next(_matching(literal.atom, source, binding), None) is not None else [binding]


def _matching(atom: Atom, source: ReferenceFacts, binding: Binding) -> Iterator[Binding]:
    args = tuple(binding.get(a, a) if isinstance(a, Variable) else a for a in atom.args)
    if not any(isinstance(a, Variable) for a in args):
        return iter([binding] if (atom.predicate, args) in source else [])
    return (longer for fact in source.of(atom.predicate) for longer in _unify(args, fact.args, binding))


def _unify(pattern: Sequence[Variable | Term | Aggregate], terms: Sequence[Term], binding: Binding) -> list[Binding]:
    """The binding extended so that the pattern equals the terms, or nothing."""
    for place, term in zip(pattern, terms, strict=True):
        if not isinstance(place, Variable) and place != term:
            return []
    longer = dict(binding)
    for place, term in zip(pattern, terms, strict=True):
        if isinstance(place, Variable) and term != longer.setdefault(place, term):
            return []
    return [longer]


def least_model(rules: Sequence[Rule], facts: Iterable[Fact]) -> frozenset[Fact]:
    """Every fact that follows, the given ones included."""
    return model_of(stratify(rules), facts)


def model_of(strata: Iterable[Stratum], facts: Iterable[Fact]) -> frozenset[Fact]:
    """The least model of rules that are in order already."""
    model = ReferenceFacts(facts)
    for stratum in strata:
        model = _saturate(stratum.rules, model)
    return frozenset(model)


def _saturate(rules: Sequence[Rule], facts: ReferenceFacts) -> ReferenceFacts:
    while new := ReferenceEngine().derive([all_from(rule, facts) for rule in rules], Work()) - facts:
        facts = facts | new
    return facts


def supports(
    rules: Sequence[SourcedRule[ReferenceFacts]], start: int, stop: int | None, work: Work
) -> tuple[ReferenceFacts, ReferenceFacts]:
    bodies: list[Fact] = []
    unfinished: list[Fact] = []
    for extended in rules:
        guard, *atoms = extended.rule.atoms
        by_guard: dict[Fact, list[Binding]] = {}
        for match in matches(extended):
            by_guard.setdefault(Fact(guard.predicate, ground(guard, match)), []).append(match)
        for fact, found in by_guard.items():
            shown = sorted(found, key=lambda match: sorted((v.name, t) for v, t in match.items()))[start:stop]
            work.derivations += len(shown)
            bodies += [Fact(atom.predicate, ground(atom, match)) for match in shown for atom in atoms]
            if stop is not None and len(found) > stop:
                unfinished.append(fact)
    return ReferenceFacts(bodies), ReferenceFacts(unfinished)
