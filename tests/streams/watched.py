"""A watch and its query side by side: the changes that a watch gives add up to what the query answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random

import pytest

import tidelog
from tests.oracle.programs import RandomProgram
from tidelog.model.terms import to_term
from tidelog.queries.answers import Answers, term_rows
from tidelog.queries.language import is_sparql
from tidelog.rules.printer import format_rule
from tidelog.rules.syntax import Rule
from tidelog.streams.watch import AnswerChange, Watch

Rows = Counter[tuple[object, ...]]

SPARQL = (
    "SELECT * { ?x ?p ?y }",
    "SELECT ?x { ?x <p> ?y . ?y ?q ?z }",
    "SELECT DISTINCT ?y { ?x <p> ?y }",
    "SELECT DISTINCT ?p ?two { ?x ?p ?y BIND(?y * 2 AS ?two) }",
    "SELECT ?x ?y { { ?x <p> ?y } UNION { ?y <q> ?x } FILTER(?x != ?y) }",
    "SELECT ?x ?v { VALUES ?v { <a> <b> } ?x <p> ?v . ?v <q> [] }",
    "SELECT ?x { <a> <p> <b> . ?x <q> ?x } ORDER BY ?x",
    "SELECT ?x ?z { ?x <p> ?y OPTIONAL { ?y <q> ?z } }",
    "SELECT ?x { ?x <p> ?y MINUS { ?y <q> ?x } }",
    "SELECT ?x { ?x <p> ?y FILTER NOT EXISTS { ?y <q> ?z } }",
    "SELECT ?x ?y { ?x <p>+ ?y }",
    "SELECT ?p (COUNT(?x) AS ?n) { ?x ?p ?y } GROUP BY ?p",
    "SELECT DISTINCT ?x { ?x ?p ?y } ORDER BY ?x LIMIT 2",
    "ASK { ?x <p> ?x }",
    "CONSTRUCT { ?y <r> ?x } { ?x <p> ?y }",
)


def rows_of(answers: Answers | Iterable[tuple[object, ...]]) -> Rows:
    """The rows as terms: values of different terms may be equal."""
    if isinstance(answers, Answers):
        return Counter(term_rows(answers))
    return Counter(tuple(to_term(value).encode() for value in row) for row in answers)


def answers(kb: tidelog.KnowledgeBase, query: str) -> Rows:
    """What the query answers now."""
    if not is_sparql(query):
        return rows_of(kb.query(query))
    found = kb.sparql(query)
    if isinstance(found, bool):
        return Counter({(): 1} if found else {})
    if isinstance(found, Answers):
        return rows_of(found)
    from tidelog.formats.rdflib_terms import term_of

    return Counter(tuple(term_of(node).encode() for node in triple) for triple in found)


class Sum:
    """The sum of the changes that a watch has given."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.rows: Rows = Counter()

    def take(self) -> None:
        for change in self.watch:
            self.add(change)

    def add(self, change: AnswerChange) -> None:
        added, removed = rows_of(change.added), rows_of(change.removed)
        assert added or removed, f"{self.watch.query}: an empty change in version {change.version}"
        assert not added & removed, f"{self.watch.query}: version {change.version} adds and removes a row"
        assert removed <= self.rows, f"{self.watch.query}: version {change.version} removes a row that is not there"
        self.rows = self.rows - removed + added

    def check(self, expected: Rows, where: str) -> None:
        if self.rows != expected:
            missing, extra = expected - self.rows, self.rows - expected
            pytest.fail(f"{where}: watch of {self.watch.query!r} ({self.watch.method})\n{missing=}\n{extra=}")


def random_queries(random: Random, program: RandomProgram, rules: Iterable[Rule]) -> Iterator[str]:
    """The body of each rule, now and then with wildcards in place of variables; and each relation."""
    for rule in rules:
        body = format_rule(Rule((), rule.body, cartesian=True)).partition(":-")[2].strip().removesuffix(".")
        if rule.body and "?_" not in body:
            yield body
            yield _with_wildcards(random, body)
    for signature in program.signatures:
        if signature.predicate != "triple" and signature.columns:
            places = ", ".join(random.choice(("_", f"?v{i}")) for i in range(len(signature.columns)))
            yield f"{signature.predicate}({places})"


def _with_wildcards(random: Random, body: str) -> str:
    for name in ("?x", "?y", "?z", "?w"):
        if body.count(name) == 1 and random.random() < 0.6:
            body = body.replace(name, "_")
    return body
