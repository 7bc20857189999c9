"""The same closure as the `owlrl` library on every ontology of `owl2rl.txt`, but for the differences listed here."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.rulesets.cases import Case, Triples, cases, closure, turtle
from tidelog import rulesets
from tidelog.model.terms import OWL, RDF, RDFS, STRING, XSD, Term, is_blank, is_iri, is_literal, split_literal, to_term

CASES = cases("owl2rl.txt")
Triple = tuple[Term, Term, Term]
Test = Callable[[Case, Triple], bool]

_SAME_AS, _DISJOINT, _TYPE = (Term(f"<{name}>") for name in (f"{OWL}sameAs", f"{OWL}disjointWith", f"{RDF}type"))
_UNSUPPORTED = {Term(f"<{name}>") for name in (f"{RDF}HTML", f"{RDF}langString", f"{XSD}date", f"{XSD}time")}
_ORDERS = re.compile(rf"<(?:{RDFS}sub(?:Class|Property)Of|{OWL}equivalent(?:Class|Property))>")


def _typed(term: Term) -> bool:
    return is_literal(term) and split_literal(term)[1] != STRING


EXTRA: dict[str, Test] = {
    "datatypes that OWL 2 RL does not have are declared": lambda _, t: t[0] in _UNSUPPORTED,
    "literals have their types, which we derive where an axiom asks (dt-type2)": lambda _, t: (
        is_literal(t[0]) and t[1] == _TYPE
    ),
    "decimal and double are declared disjoint, which is in no table": lambda _, t: (
        _DISJOINT in (t[0], t[1]) and t[0].startswith(f"<{XSD}") | (t[0] == _DISJOINT)
    ),
    "prp-key takes individuals to be equal that share values for only some properties of the key": lambda case, _: (
        case.rule == "prp-key"
    ),
}
MISSING: dict[str, Test] = {
    "scm-sco, scm-spo and what follows are not applied where the ends are the same": lambda _, t: (
        t[0] == t[2] and _ORDERS.fullmatch(t[1]) is not None
    ),
    "literals as subjects are removed at the end": lambda _, t: is_literal(t[0]),
    "a literal stays as it is written: no canonical form, no equal values across types (dt-eq)": lambda case, t: (
        _typed(t[2]) and (case.rule.startswith("dt-") or t[2] not in {o for *_, o in turtle(case.premises)})
    ),
    "what follows from equal values": lambda case, t: case.rule in ("dt-eq", "dt-type2") and t[1] == _TYPE,
}


def owlrl_closure(premises: Triples) -> Triples:
    owlrl, rdflib = pytest.importorskip("owlrl"), pytest.importorskip("rdflib")

    def node(term: Term) -> object:
        if is_iri(term):
            return rdflib.URIRef(term[1:-1])
        if is_blank(term):
            return rdflib.BNode(term[2:])
        text, datatype, language = split_literal(term)
        if language or datatype == STRING:
            return rdflib.Literal(text, lang=language or None)
        return rdflib.Literal(text, datatype=rdflib.URIRef(datatype), normalize=False)

    graph = rdflib.Graph()
    for triple in premises:
        graph.add(tuple(map(node, triple)))
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, axiomatic_triples=False, datatype_axioms=False).expand(graph)
    found = (tuple(map(to_term, triple)) for triple in graph)
    return frozenset(t for t in found if not _is_message(t))  # type: ignore[arg-type, misc]


def _is_message(triple: Triple) -> bool:
    """owlrl writes its errors into the graph."""
    return any("daml.org/2002/03/agents" in term for term in triple)


def explained(case: Case, triples: Triples, reasons: dict[str, Test], used: set[str]) -> Triples:
    """The triples that no reason explains; the reasons that explain some are noted."""
    left = set()
    for triple in triples:
        reason = next((text for text, test in reasons.items() if test(case, triple)), None)
        if reason is None:
            left.add(triple)
        else:
            used.add(reason)
    return frozenset(left)


def test_closures() -> None:
    used: set[str] = set()
    differences = {}
    for case in CASES:
        premises = turtle(case.premises)
        ours, _ = closure(rulesets.owl2rl(reflexive=True), premises)
        theirs = owlrl_closure(premises)
        more, fewer = explained(case, theirs - ours, EXTRA, used), explained(case, ours - theirs, MISSING, used)
        if more or fewer:
            differences[case.title] = more, fewer
    assert differences == {}
    assert used == EXTRA.keys() | MISSING.keys(), "a difference that is gone"
