"""Prepared queries: parsed, with the variables of each basic graph pattern numbered. They are cached by query text.

mentions     in how many parts of the query a variable occurs; a variable of one part only needs no column
Plan         one basic graph pattern, with its constants encoded as ids
choice       the IRIs that a filter allows for a variable, known before the filter is evaluated
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from weakref import ref

from tidelog.dictionary import Dictionary
from tidelog.model.terms import Term, is_iri
from tidelog.queries.sparql.evaluate.lookups import TriplePlaces
from tidelog.queries.sparql.evaluate.query_dictionary import Overlay
from tidelog.queries.sparql.syntax import algebra
from tidelog.queries.sparql.syntax.algebra import Expression, Pattern
from tidelog.queries.sparql.syntax.update_grammar import parse
from tidelog.rules.syntax import Variable


def mentions(pattern: Pattern, also: Iterable[Variable]) -> Counter[Variable]:
    """The number of parts of a query in which each variable occurs. A basic graph pattern is one part."""
    counts = Counter(also)
    for part in _parts(pattern):
        counts.update(part)
    return counts


def _parts(pattern: Pattern) -> Iterator[tuple[Variable, ...]]:
    if isinstance(pattern, algebra.BasicPattern | algebra.PathPattern | algebra.Values):
        yield algebra.visible(pattern)
    for part in algebra.parts(pattern):
        yield from _parts(part)
    for expression in algebra.expressions(pattern):
        yield from _of(expression)
    match pattern:
        case algebra.Extend(_, variable):
            yield (variable,)
        case algebra.Project(_, variables):
            yield variables
        case algebra.Group(inner, keys, aggregates):
            yield from ((variable,) for variable, _ in (*keys, *aggregates))
            if any(a.expression is None and a.distinct for _, a in aggregates):
                yield algebra.visible(inner)


def _of(expression: Expression) -> Iterator[tuple[Variable, ...]]:
    match expression:
        case Variable():
            yield (expression,)
        case algebra.FunctionCall(_, args):
            for arg in args:
                yield from _of(arg)
        case algebra.Exists(pattern):
            yield from _parts(pattern)


class Plan:
    """A basic graph pattern. A place of a triple is the id of a term, or `~slot` for a variable."""

    def __init__(self, pattern: algebra.BasicPattern, unwanted: frozenset[Variable]) -> None:
        self.pattern = pattern
        self.variables = tuple(dict.fromkeys(v for t in pattern.triples for v in t.variables()))
        self.unwanted = unwanted & frozenset(self.variables)  # no other part of the query uses them
        self._slots = {v: ~slot for slot, v in enumerate(self.variables)}
        self._places: tuple[ref[Dictionary], tuple[TriplePlaces, ...]] | None = None

    def places(self, overlay: Overlay) -> tuple[TriplePlaces, ...] | None:
        """The places of the triples; None if a triple has a term that no fact has."""
        known = self._places
        if known is not None and known[0]() is overlay.dictionary:
            return known[1]

        def place(node: algebra.Node) -> int:
            return self._slots[node] if isinstance(node, Variable) else overlay.encode(node)

        found = tuple((place(t.subject), place(t.predicate), place(t.object)) for t in self.pattern.triples)
        if any(place >= overlay.start for places in found for place in places):
            return None  # not cached, because a later fact may have the term
        self._places = ref(overlay.dictionary), found
        return found


class Prepared:
    """A pattern, and the variables that are selected besides those it projects."""

    def __init__(self, pattern: Pattern, also: tuple[Variable, ...] = ()) -> None:
        self.pattern = pattern
        counts = mentions(pattern, also)
        self._unwanted = frozenset(v for v, count in counts.items() if count <= 1)
        self.sliced = _is_sliced(pattern)
        self._plans: dict[int, Plan] = {}
        basic = pattern.pattern if isinstance(pattern, algebra.Project) else None
        self.only = self.plan(basic) if isinstance(basic, algebra.BasicPattern) else None

    def plan(self, pattern: algebra.BasicPattern) -> Plan:
        """The plan of a part of the pattern, cached by the part's `id`. The part lives as long as this object."""
        plan = self._plans.get(id(pattern))
        if plan is None:
            plan = self._plans[id(pattern)] = Plan(pattern, self._unwanted)
        return plan


def _is_sliced(pattern: Pattern) -> bool:
    """Whether the query has a LIMIT and no part of it needs all solutions first."""
    if not isinstance(pattern, algebra.Slice) or pattern.limit is None:
        return False
    inner = pattern.pattern
    while isinstance(inner, algebra.Project | algebra.Distinct | algebra.Filter | algebra.Extend):
        inner = inner.pattern
    return not isinstance(inner, algebra.Order | algebra.Group)


def prepare(query: algebra.Query) -> Prepared:
    match query:
        case algebra.Select(pattern, variables):
            return Prepared(pattern, variables)
        case algebra.Ask(pattern):
            return Prepared(algebra.Slice(algebra.Project(pattern, ()), 0, 1))
        case algebra.Construct(pattern, template):
            return Prepared(pattern, tuple(dict.fromkeys(v for t in template for v in t.variables())))
        case algebra.Describe(pattern, resources):
            return Prepared(pattern, tuple(r for r in resources if isinstance(r, Variable)))


def prepare_text(text: str, prefixes: Mapping[str, str]) -> tuple[algebra.Query, Prepared]:
    return _prepare_text(text, tuple(sorted(prefixes.items())) if prefixes else ())


@lru_cache(256)
def _prepare_text(text: str, prefixes: tuple[tuple[str, str], ...]) -> tuple[algebra.Query, Prepared]:
    query = parse(text, dict(prefixes))
    return query, prepare(query)


Choice = tuple[Variable, tuple[Term, ...]]


def choice(condition: Expression) -> Choice | None:
    """A variable and the only IRIs for which a condition can hold; None if the condition does not restrict one so."""
    match condition:
        case algebra.FunctionCall("&&", (left, right)):
            return choice(left) or choice(right)
        case algebra.FunctionCall("=" | "SAMETERM", (Variable() as variable, term) | (term, Variable() as variable)):
            terms = [term]
        case algebra.FunctionCall("IN", (Variable() as variable, *terms)):
            pass
        case _:
            return None
    known = tuple(Term(t) for t in terms if isinstance(t, str) and is_iri(Term(t)))
    return (variable, tuple(dict.fromkeys(known))) if len(known) == len(terms) else None
