"""A random query over a random graph, on tidelog and on pyoxigraph; the seed says which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from random import Random

import pyoxigraph as ox
import rdflib

import tidelog
from tests.queries.sparql.bags import Row, number_form, same
from tests.queries.sparql.expected import term
from tests.queries.sparql.random_graphs import Triple, random_graph
from tests.queries.sparql.random_queries import Query, random_query
from tidelog.model.terms import DECIMAL, DOUBLE, INTEGER, TRIPLE, Fact, Term, literal, plain, split_literal, to_term
from tidelog.queries.sparql import Solutions

MOST = 20_000  # rows; a query with more is passed over
DIGITS = 9  # of a computed number that must agree: sums depend on the order
QUERIES = 20  # for each graph


def differences(first: int, last: int) -> Iterable[str]:
    """For each seed nothing, or a text that says what differs."""
    for seed in range(first, last):
        yield from _graph_differences(seed)


def _graph_differences(seed: int) -> Iterable[str]:
    """The seed and the queries that are asked of its graph."""
    random = Random(f"sparql {seed}")
    triples = random_graph(random)
    store = ox.Store()
    store.extend(quad(triple) for triple in triples)
    with tidelog.open() as kb:
        kb.apply(add=[Fact(TRIPLE, triple) for triple in triples])
        for _ in range(QUERIES):
            query = _with_answer(random, store)
            yield _difference(kb, store, query, triples, seed)


def _with_answer(random: Random, store: ox.Store) -> Query:
    """Mostly a query that has an answer."""
    for _ in range(3):
        query = random_query(random)
        found = store.query(query.text)
        if isinstance(found, ox.QueryBoolean) or next(iter(found), None) is not None:
            break
    return query


def quad(triple: Triple) -> ox.Quad:
    return ox.Quad(*map(_node, triple))  # type: ignore[arg-type]


def _node(text: Term) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    if text[0] == "<":
        return ox.NamedNode(text[1:-1])
    if text[0] == "_":
        return ox.BlankNode(text[2:])
    value, datatype, language = split_literal(text)
    return ox.Literal(value, language=language) if language else ox.Literal(value, datatype=ox.NamedNode(datatype))


def _difference(kb: tidelog.KnowledgeBase, store: ox.Store, query: Query, triples: list[Triple], seed: int) -> str:
    theirs = store.query(query.text)
    if isinstance(theirs, ox.QuerySolutions):
        names = sorted(v.value for v in theirs.variables)
        rows = [tuple(_cell(s[name]) for name in names) for s in islice(theirs, MOST + 1)]
        if len(rows) > MOST:
            return ""
        ours = kb.sparql(query.sliced)
        assert isinstance(ours, Solutions)
        problem = _rows_differ(query, ours, names, rows)
    elif isinstance(theirs, ox.QueryBoolean):
        found = kb.sparql(query.text)
        problem = "" if found is bool(theirs) else f"{found}, not {bool(theirs)}"
    else:
        problem = _triples_differ(
            kb.sparql(query.text), [(term(t.subject), term(t.predicate), term(t.object)) for t in theirs]
        )
    data = "\n".join(" ".join((*triple, ".")) for triple in triples)
    return f"seed {seed}\n{data}\n{query.sliced}\n{problem}" if problem else ""


def _cell(node: object) -> Term | None:
    return None if node is None else term(node)


def _rows_differ(query: Query, ours: Solutions, names: Sequence[str], expected: list[Row]) -> str:
    if sorted(ours.names) != list(names):
        return f"columns {ours.names}, not {names}"
    places = [ours.names.index(name) for name in names]
    found = [tuple(None if row[i] is None else to_term(row[i]) for i in places) for row in ours]
    left, right = ([_compared(query, names, row) for row in rows] for rows in (found, expected))
    if query.key in names:
        i = names.index(query.key)
        if [_value(row[i]) for row in left] != [_value(row[i]) for row in right]:
            return f"in the order {left}\nnot {right}"
    if query.slice_:
        return _slice_differs(query.slice_, left, right)
    extra, missing = Counter(left) - Counter(right), Counter(right) - Counter(left)
    return f"too many: {extra}\nmissing: {missing}" if extra or missing else ""


def _slice_differs(slice_: tuple[int, int], found: list[Row], all_: list[Row]) -> str:
    """Any rows will do, as long as there are as many as asked for."""
    offset, limit = slice_
    number = max(0, min(limit, len(all_) - offset))
    wrong = Counter(found) - Counter(all_)
    return f"{len(found)} rows, not {number}; wrong: {wrong}" if len(found) != number or wrong else ""


def _compared(query: Query, names: Sequence[str], row: Row) -> Row:
    return tuple(cell if cell is None else _form(query, name, cell) for name, cell in zip(names, row, strict=True))


def _form(query: Query, name: str, cell: Term) -> Term:
    if name in query.by_value:
        return Term(str(_value(cell)))
    if name in query.pieces:
        return Term("|".join(sorted(plain(cell).split("|"))))
    return _rounded(number_form(cell))


def _rounded(term: Term) -> Term:
    if term[0] == '"' and term.endswith(("decimal>", "double>")):
        text, datatype, _ = split_literal(term)
        return literal(f"{float(text):.{DIGITS}g}", datatype)
    return term


def _value(cell: Term | None) -> object:
    """What orders a cell, where all are of one kind."""
    if cell is not None and cell[0] == '"' and split_literal(cell)[1] in (INTEGER, DECIMAL, DOUBLE):
        return float(plain(cell))
    return cell


def _triples_differ(ours: object, expected: list[Row]) -> str:
    assert isinstance(ours, rdflib.Graph)
    found = [tuple(map(to_term, triple)) for triple in ours]
    return "" if same(found, set(expected)) else f"{found}\nnot {expected}"
