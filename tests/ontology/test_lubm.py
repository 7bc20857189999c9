"""The 14 LUBM queries give the published answers, row by row, under the compiled ontology."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tidelog
from tests.ontology import lubm

pytestmark = lubm.needs_lubm

COUNTS = (4, 0, 6, 34, 719, 7790, 67, 7790, 208, 4, 224, 15, 1, 5916)


@pytest.fixture(scope="module")
def university() -> Iterator[tidelog.KnowledgeBase]:
    with tidelog.open() as kb:
        ontology = tidelog.ontology(lubm.ONTOLOGY)
        kb.apply(add=lubm.DATA, add_rules=ontology)
        yield kb


@pytest.mark.parametrize("number", lubm.NUMBERS)
def test_query(university: tidelog.KnowledgeBase, number: int) -> None:
    found = university.query(lubm.query(number))
    rows = [dict(zip(found.names, map(str, row), strict=True)) for row in found]
    expected = lubm.answers(number)
    assert sorted(tuple(row[name] for name in lubm.selected(number)) for row in rows) == expected
    assert len(expected) == COUNTS[number - 1]
