"""Runs a query: SELECT returns solutions, ASK a truth value, CONSTRUCT and DESCRIBE a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tidelog import tuning
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import LimitError
from tidelog.kernel.join import Bindings
from tidelog.kernel.rows import Ints
from tidelog.model.terms import Term, is_blank, is_iri, is_literal
from tidelog.queries.limits import QueryBudget
from tidelog.queries.sparql.evaluate.basic_patterns import BasicPatterns
from tidelog.queries.sparql.evaluate.evaluator import Evaluator
from tidelog.queries.sparql.evaluate.expressions import new_blank_node
from tidelog.queries.sparql.evaluate.lookups import Slots, look_up
from tidelog.queries.sparql.evaluate.paths import Paths, neighbours
from tidelog.queries.sparql.evaluate.query_dictionary import UNBOUND, Overlay
from tidelog.queries.sparql.evaluate.tables import column_of, gathered
from tidelog.queries.sparql.prepared import Plan, Prepared, prepare, prepare_text
from tidelog.queries.sparql.solutions import Solutions
from tidelog.queries.sparql.syntax.algebra import Ask, Construct, Describe, Node, Query, Select, Triple
from tidelog.rules.syntax import Variable
from tidelog.settings import Limits

if TYPE_CHECKING:
    import rdflib


Statement = tuple[Term, Term, Term]


@dataclass(frozen=True)
class Dataset:
    """The facts that a query is run on, and the prefixes that it need not declare."""

    engine: LocalEngine
    I: LocalFacts
    prefixes: Mapping[str, str]


NO_LIMITS = Limits()


def evaluate(dataset: Dataset, query: str | Query, limits: Limits = NO_LIMITS) -> Solutions | bool | rdflib.Graph:
    """The answer to a query."""
    try:
        asked, prepared = prepare_text(query, dataset.prefixes) if isinstance(query, str) else (query, prepare(query))
        return _evaluate(dataset, asked, prepared, limits)
    except RecursionError:
        raise LimitError("the query is nested too deeply, or joins too many parts; write it as several") from None


def _evaluate(dataset: Dataset, asked: Query, prepared: Prepared, limits: Limits) -> Solutions | bool | rdflib.Graph:
    match asked:
        case Select(_, variables):
            found = _looked_up(dataset, prepared, variables, limits)
            return select(dataset, prepared, variables, limits) if found is None else found
        case Ask():
            return _Run(dataset, prepared, limits).table().length > 0
        case Construct() | Describe():
            return graph_of(_statements(dataset, asked, prepared, limits))


def select(
    dataset: Dataset, prepared: Prepared, variables: tuple[Variable, ...], limits: Limits = NO_LIMITS
) -> Solutions:
    """The solutions of a pattern."""
    run = _Run(dataset, prepared, limits)
    table = run.table()
    columns = [column_of(table, v) for v in variables]
    return Solutions([v.name for v in variables], columns, table.length, run.overlay)


def _looked_up(
    dataset: Dataset, prepared: Prepared, variables: tuple[Variable, ...], limits: Limits
) -> Solutions | None:
    """The solutions if the query is a basic graph pattern that lookups can answer; else None."""
    plan = prepared.only
    if plan is None or limits.max_rows is not None:
        return None
    overlay = Overlay(dataset.engine.dictionary)
    places = plan.places(overlay)
    slots: Slots = [None] * len(plan.variables)
    found = (0, []) if places is None else look_up(dataset.I, places, slots, 1)
    if found is None or found[1]:
        return None
    length = found[0]
    columns = [_bound(plan, slots, v, length) for v in variables]
    return Solutions([v.name for v in variables], columns, length, overlay)


def _bound(plan: Plan, slots: Slots, variable: Variable, length: int) -> Ints:
    column = slots[plan.variables.index(variable)] if length and variable in plan.variables else None
    return np.full(length, UNBOUND, dtype=np.int64) if column is None else column


def _statements(
    dataset: Dataset, query: Construct | Describe, prepared: Prepared, limits: Limits
) -> Iterator[Statement]:
    """The triples of the graph that a query constructs, as terms. Triples may repeat."""
    run = _Run(dataset, prepared, limits)
    table = run.table()
    if isinstance(query, Construct):
        return filled(query.template, table, run.overlay)
    return _described(dataset, query, table, run)


class _Run:
    """One evaluation of one pattern."""

    def __init__(self, dataset: Dataset, prepared: Prepared, limits: Limits) -> None:
        self.pattern = prepared.pattern
        self.budget = QueryBudget.start(dataset.engine.budget, limits)
        self.overlay = Overlay(dataset.engine.dictionary)
        budget = self.budget.with_block(tuning.FIRST_ROWS_BYTES) if prepared.sliced else self.budget
        basic = BasicPatterns(dataset.I, self.overlay, budget, prepared)
        self.evaluator = Evaluator(basic, Paths(dataset.I, self.overlay, self.budget), self.overlay, self.budget)

    def table(self) -> Bindings:
        """All rows. Raises LimitError if there are more than `max_rows`."""
        return gathered(self.evaluator.solutions(self.pattern), self.budget, self.budget.check_rows)


def filled(template: tuple[Triple, ...], table: Bindings, overlay: Overlay) -> Iterator[Statement]:
    """The template, filled with each solution. Invalid triples (an unbound node, a literal as subject) are left out."""
    names = {v for t in template for v in t.variables()}
    terms = {v: overlay.decode_many(column_of(table, v)) for v in names}
    for row in range(table.length):
        own: dict[Term, Term] = {}
        for triple in template:
            s, p, o = (_instance(n, terms, row, own) for n in (triple.subject, triple.predicate, triple.object))
            if s is not None and p is not None and o is not None and not is_literal(s) and is_iri(p):
                yield s, p, o


def _instance(node: Node, terms: Mapping[Variable, list[Term | None]], row: int, own: dict[Term, Term]) -> Term | None:
    """The term for a node of a template. A blank node becomes a new blank node for each solution."""
    if isinstance(node, Variable):
        return terms[node][row]
    if is_blank(node):
        return own.setdefault(node, new_blank_node())
    return node


def _described(dataset: Dataset, query: Describe, table: Bindings, run: _Run) -> Iterator[Statement]:
    """Concise bounded descriptions: the triples of each resource and, recursively, of the blank nodes in them."""
    variables = [r for r in query.resources if isinstance(r, Variable)]
    named = [run.overlay.encode(r) for r in query.resources if not isinstance(r, Variable)]
    asked = np.concatenate([np.array(named, dtype=np.int64), *(column_of(table, v) for v in variables)])
    return _bounded(dataset.I, run.overlay, np.unique(asked[asked >= 0]), run.budget)


def _bounded(I: LocalFacts, overlay: Overlay, resources: Ints, budget: QueryBudget) -> Iterator[Statement]:
    seen = resources
    while len(resources):
        budget.tick()
        found: list[Ints] = []
        for predicate, table in I.triple_tables.items():
            which, objects = neighbours(table, resources, budget, forward=True)
            if len(which):
                name, subjects = overlay.decode(predicate), overlay.decode_many(resources[which])
                for s, o in zip(subjects, overlay.decode_many(objects), strict=True):
                    assert s is not None
                    assert o is not None
                    yield s, name, o
                found.append(objects)
        targets = np.unique(np.concatenate(found)) if found else resources[:0]
        fresh = np.setdiff1d(targets, seen)
        blank = [t is not None and is_blank(t) for t in overlay.decode_many(fresh)]
        resources = fresh[np.array(blank, dtype=np.bool_)]
        seen = np.union1d(seen, resources)


def graph_of(triples: Iterator[Statement]) -> rdflib.Graph:
    """The triples as an rdflib graph."""
    import rdflib

    from tidelog.formats.rdflib_terms import node_of

    graph = rdflib.Graph()
    for subject, predicate, object_ in triples:
        graph.add((node_of(subject), node_of(predicate), node_of(object_)))
    return graph
