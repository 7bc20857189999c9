"""LUBM's 14 queries as they are published give the published answers, row by row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tidelog
from tests.owl import lubm
from tidelog.queries.sparql import Solutions

pytestmark = lubm.needs_lubm


@pytest.fixture(scope="module")
def kb() -> Iterator[tidelog.KnowledgeBase]:
    with tidelog.open() as kb:
        kb.apply(add=lubm.DATA, add_rules=tidelog.ontology(lubm.ONTOLOGY))
        yield kb


@pytest.mark.parametrize("number", lubm.NUMBERS)
def test_published_answers(kb: tidelog.KnowledgeBase, number: int) -> None:
    found = kb.sparql((lubm.FOLDER / "queries" / f"{number}.rq").read_text())
    assert isinstance(found, Solutions)
    assert list(found.names) == lubm.selected(number)
    assert sorted(tuple(map(str, row)) for row in found) == lubm.answers(number)
