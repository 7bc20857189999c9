"""Random queries over random graphs give what pyoxigraph gives. `python -m tests.queries.sparql` runs more of them."""

from __future__ import annotations

import pytest

from tests.queries.sparql.against import differences

QUICK, LONG = 20, 1000  # graphs
PARTS = 10


@pytest.mark.parametrize("first", range(0, QUICK, QUICK // PARTS))
def test_random_queries(first: int) -> None:
    assert [d for d in differences(first, first + QUICK // PARTS) if d] == []


@pytest.mark.usefixtures("long_tier")
@pytest.mark.parametrize("first", range(0, LONG, LONG // PARTS))
def test_many_random_queries(first: int) -> None:
    assert [d for d in differences(first, first + LONG // PARTS) if d] == []
