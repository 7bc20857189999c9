"""LUBM: the 14 queries give the published answers, row by row, and the compiled ontology what the rule set gives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tidelog
from tests.owl import lubm
from tidelog.model.terms import RDF

pytestmark = lubm.needs_lubm

TYPE = f"{RDF}type"
COUNTS = (4, 0, 6, 34, 719, 7790, 67, 7790, 208, 4, 224, 15, 1, 5916)


@pytest.fixture(scope="module")
def compiled() -> Iterator[tidelog.KnowledgeBase]:
    with tidelog.open() as kb:
        kb.apply(add=lubm.DATA, add_rules=tidelog.ontology(lubm.ONTOLOGY))
        yield kb


@pytest.fixture(scope="module")
def axiomatised() -> Iterator[tidelog.KnowledgeBase]:
    with tidelog.open() as kb:
        kb.load(lubm.DATA, lubm.ONTOLOGY)
        kb.apply(add_rules=tidelog.rulesets.OWL2RL)
        yield kb


def check_query(kb: tidelog.KnowledgeBase, number: int) -> None:
    found = kb.query(lubm.query(number))
    rows = [dict(zip(found.names, map(str, row), strict=True)) for row in found]
    expected = lubm.answers(number)
    assert sorted(tuple(row[name] for name in lubm.selected(number)) for row in rows) == expected
    assert len(expected) == COUNTS[number - 1]


@pytest.mark.parametrize("number", lubm.NUMBERS)
def test_query_under_the_compiled_ontology(compiled: tidelog.KnowledgeBase, number: int) -> None:
    check_query(compiled, number)


@pytest.mark.parametrize("number", lubm.NUMBERS)
def test_query_under_the_rule_set(axiomatised: tidelog.KnowledgeBase, number: int) -> None:
    check_query(axiomatised, number)


def about_individuals(kb: tidelog.KnowledgeBase) -> set[tuple[object, ...]]:
    """What is said with the classes and properties of the ontology."""
    return {
        row for row in kb.facts("triple") if str(row[2 if row[1] == f"{RDF}type" else 1]).startswith(lubm.NAMESPACE)
    }


def test_both_conclude_the_same(compiled: tidelog.KnowledgeBase, axiomatised: tidelog.KnowledgeBase) -> None:
    found = about_individuals(compiled)
    assert len(found) > 100_000
    assert found ^ about_individuals(axiomatised) == set()
