"""What is known of a query before it is asked: which variables matter, and patterns with their variables numbered.

It is kept with the text of the query, so that asking again begins with ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from weakref import ref

from tidelog.dictionary import Dictionary
from tidelog.rules.syntax import Variable
from tidelog.sparql.algebra import (
    Ask,
    BasicPattern,
    Construct,
    Describe,
    Distinct,
    Extend,
    Filter,
    Group,
    Node,
    Order,
    Pattern,
    Project,
    Query,
    Select,
    Slice,
)
from tidelog.sparql.lookups import Places
from tidelog.sparql.needed import mentions
from tidelog.sparql.overlay import Overlay
from tidelog.sparql.parsing import parse

_REMEMBERED = 256


class Plan:
    """A basic graph pattern: places of its triples are ids of terms, or `~slot` for its variables."""

    def __init__(self, pattern: BasicPattern, unwanted: frozenset[Variable]) -> None:
        self.pattern = pattern
        self.variables = tuple(dict.fromkeys(v for t in pattern.triples for v in t.variables()))
        self.unwanted = unwanted & frozenset(self.variables)  # nobody else looks at them
        self._slots = {v: ~slot for slot, v in enumerate(self.variables)}
        self._places: tuple[ref[Dictionary], tuple[Places, ...]] | None = None

    def places(self, overlay: Overlay) -> tuple[Places, ...] | None:
        """The triples; None if one of them has a term that no fact has."""
        known = self._places
        if known is not None and known[0]() is overlay.dictionary:
            return known[1]
        found = tuple(
            (self._place(t.subject, overlay), self._place(t.predicate, overlay), self._place(t.object, overlay))
            for t in self.pattern.triples
        )
        if any(place >= overlay.start for places in found for place in places):
            return None  # a later fact may have it
        self._places = ref(overlay.dictionary), found
        return found

    def _place(self, node: Node, overlay: Overlay) -> int:
        return self._slots[node] if isinstance(node, Variable) else overlay.encode(node)


class Prepared:
    """A pattern, and the variables that are asked for besides those it projects."""

    def __init__(self, pattern: Pattern, also: tuple[Variable, ...] = ()) -> None:
        self.pattern = pattern
        counts = mentions(pattern, also)
        self._unwanted = frozenset(v for v, count in counts.items() if count <= 1)
        self.sliced = _is_sliced(pattern)
        self._plans: dict[int, Plan] = {}
        match pattern:
            case Project(BasicPattern() as basic):
                self.only: Plan | None = self.plan(basic)
            case _:
                self.only = None

    def plan(self, pattern: BasicPattern) -> Plan:
        """The plan of a part of the pattern, which is kept (and so has its id to itself) as long as this is."""
        plan = self._plans.get(id(pattern))
        if plan is None:
            plan = self._plans[id(pattern)] = Plan(pattern, self._unwanted)
        return plan


def _is_sliced(pattern: Pattern) -> bool:
    """Whether only some solutions are asked for, and nothing needs all of them first."""
    if not isinstance(pattern, Slice) or pattern.limit is None:
        return False
    inner = pattern.pattern
    while isinstance(inner, Project | Distinct | Filter | Extend):
        inner = inner.pattern
    return not isinstance(inner, Order | Group)


def prepare(query: Query) -> Prepared:
    match query:
        case Select(pattern, variables):
            return Prepared(pattern, variables)
        case Ask(pattern):
            return Prepared(Slice(Project(pattern, ()), 0, 1))
        case Construct(pattern, template):
            return Prepared(pattern, tuple(dict.fromkeys(v for t in template for v in t.variables())))
        case Describe(pattern, resources):
            return Prepared(pattern, tuple(r for r in resources if isinstance(r, Variable)))


def prepare_text(text: str, prefixes: Mapping[str, str]) -> tuple[Query, Prepared]:
    return _prepare_text(text, tuple(sorted(prefixes.items())) if prefixes else ())


@lru_cache(_REMEMBERED)
def _prepare_text(text: str, prefixes: tuple[tuple[str, str], ...]) -> tuple[Query, Prepared]:
    query = parse(text, dict(prefixes))
    return query, prepare(query)
