"""The W3C tests of RDF semantics, where they are present beside the repository.

A graph entails another if the other, its blank nodes read as variables, matches the closure; a graph from which a
contradiction follows entails everything. RDF entailment is tested with the rules of RDFS: whatever the two regimes
tell apart is not in the suite.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyoxigraph as ox
import pytest

from tidelog import rulesets
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.terms import RDF, TRIPLE, Term, is_blank
from tidelog.rules.printer import format_atom
from tidelog.rules.syntax import Atom, Variable
from tidelog.values.datatypes import canonical

SUITE = Path(__file__).parents[3] / "shared" / "w3c" / "rdf" / "rdf11" / "rdf-mt"
MANIFEST = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
_MODELS = "the contradiction is not in any triple but in how few things an interpretation may then have"
_APART = "no rule knows which datatypes have no value in common; literals are compared with datatypes one by one"
# All of them are proposals that the working group has not approved.
SKIPPED = {
    "ill-formed-string": "simple entailment runs no rules, so that no datatype is recognised",
    "inconsistent-recognizing-integer": _MODELS,
    "only-one-class": _MODELS,
    "only-one-property": _MODELS,
    "langstring-disjoint-string": _APART,
    "langstring-not-subclassof-string": _APART,
    "resource-is-literal": "it asks about an IRI that the graph does not mention",
    "same-as-one": "the manifest names files that are not there",
}


@dataclass(frozen=True)
class Case:
    name: str
    positive: bool
    regime: str
    datatypes: bool
    action: Path
    result: Path | None  # None: a contradiction


def cases() -> Iterator[Case]:
    """The approved tests, and those that were only proposed."""
    for path in (SUITE / "manifest.ttl", SUITE / "az-tests" / "manifest.ttl"):
        if path.exists():
            yield from _manifest(path)


def _manifest(path: Path) -> Iterator[Case]:
    here = path.resolve().parent.as_uri() + "/"
    store = ox.Store()
    store.load(path=str(path), format=ox.RdfFormat.TURTLE, base_iri=here)
    for node in _list(store, _one(store, None, "entries")):
        kind = str(_value(store, node, f"{RDF}type"))
        recognised = _list(store, _one(store, node, "recognizedDatatypes"))
        result = _one(store, node, "result")
        yield Case(
            name=_text(_one(store, node, "name")),
            positive="PositiveEntailmentTest" in kind,
            regime=_text(_one(store, node, "entailmentRegime")),
            datatypes=bool(recognised),
            action=_path(_one(store, node, "action")),
            result=None if isinstance(result, ox.Literal) else _path(result),
        )


def _value(store: ox.Store, node: object, predicate: str) -> object:
    return next(q.object for q in store.quads_for_pattern(node, ox.NamedNode(predicate), None))  # type: ignore[arg-type]


def _one(store: ox.Store, node: object, name: str) -> object:
    return _value(store, node, MANIFEST + name)


def _list(store: ox.Store, node: object) -> list[object]:
    found = []
    while node != ox.NamedNode(f"{RDF}nil"):
        found.append(_value(store, node, f"{RDF}first"))
        node = _value(store, node, f"{RDF}rest")
    return found


def _text(node: object) -> str:
    assert isinstance(node, ox.Literal | ox.NamedNode)
    return node.value


def _path(node: object) -> Path:
    return Path(_text(node).removeprefix("file://"))


CASES = list(cases())


@cache
def conclusion(path: Path, datatypes: bool) -> str:
    """A graph as a query: blank nodes are variables, and literals stand for their values if those are known."""
    triples = ox.parse(path=str(path), base_iri="http://example.org/")
    atoms = (tuple(_term(t, datatypes) for t in (q.subject, q.predicate, q.object)) for q in triples)
    return ", ".join(format_atom(Atom(TRIPLE, args)) for args in atoms)


def _term(node: object, datatypes: bool) -> Variable | Term:
    term = Term(str(node))
    if is_blank(term):
        return Variable(f"b{term[2:]}")
    return (canonical(term) if datatypes else None) or term


def entails(case: Case) -> bool:
    with KnowledgeBase() as kb:
        if case.regime != "simple":
            kb.apply(add_rules=rulesets.rdfs(axiomatic=True, members=3, datatypes=case.datatypes))
        kb.load(case.action)
        if kb.inconsistencies():
            return True
        query = case.result and conclusion(case.result, case.datatypes)
        return bool(query and len(kb.query(query)))


@pytest.mark.skipif(not CASES, reason="the W3C suite is not beside the repository")
def test_the_suite_is_found() -> None:
    assert len(CASES) > 40
    assert SKIPPED.keys() <= {case.name for case in CASES}
    assert {case.regime for case in CASES} == {"simple", "RDF", "RDFS"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case) -> None:
    if case.name in SKIPPED:
        pytest.skip(SKIPPED[case.name])
    assert entails(case) == case.positive
