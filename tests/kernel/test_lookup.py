"""Looking up rows in a changed relation: the same rows as in a set of pairs, each once over windows that follow."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from tidelog import tuning
from tidelog.kernel.lookup import CodedRows, RelationLookup
from tidelog.kernel.rows import HALF, Ints, layout_for
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table

Pair = tuple[int, int]

WINDOWS: list[list[tuple[int, int | None]]] = [[(0, None)], [(0, 1), (1, None)], [(0, 1), (1, 4), (4, 9), (9, None)]]
VALUES = 12
RELATION = 3


@pytest.fixture(autouse=True, params=["searched", "indexed"])
def indexed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it once more with an index of every run."""
    if request.param == "indexed":
        for name, limit in (("UNINDEXED_LOOKUPS", 0), ("INDEXED_ROWS", 1), ("ROWS_PER_LOOKUP", 10**9)):
            monkeypatch.setattr(tuning, name, limit)


def pairs_of(random: Random, most: int) -> set[Pair]:
    return {(random.randrange(VALUES), random.randrange(VALUES)) for _ in range(random.randint(0, most))}


def words(pairs: set[Pair]) -> Ints:
    return np.array(sorted(a << HALF | b for a, b in pairs), dtype=np.int64)


def mixed(pairs: set[Pair]) -> CodedRows:
    """The pairs, between some of other relations."""
    others = np.array([0, 5], dtype=np.int64)
    return CodedRows.of_rows(21, [RELATION - 1, RELATION, RELATION + 1], [others, words(pairs), others])


def table_of(random: Random) -> tuple[Table | None, set[Pair]]:
    """A table of several runs, with rows removed from it."""
    table: Table | None = None
    rows: set[Pair] = set()
    for size in (60, 25, 8, 2):
        added = pairs_of(random, size)
        if added:
            run = Table((Run(layout_for(2, 0), words(added).reshape(1, -1)),))
            table = run if table is None else table.plus(run)
            rows |= added
    gone = {pair for pair in rows if random.random() < 0.1}
    if table is not None and gone and len(gone) < len(rows):
        table = table.minus(Table((Run(layout_for(2, 0), words(gone).reshape(1, -1)),)))
        rows -= gone
    return table, rows


def changed(seed: int) -> tuple[RelationLookup, set[Pair]]:
    random = Random(seed)
    table, rows = table_of(random) if seed % 4 else (None, set())
    dead, plus = pairs_of(random, 12), {(1, 2), *pairs_of(random, 12)}
    return RelationLookup(table, mixed(dead if table else set()), mixed(plus), RELATION), (rows - dead) | plus


@pytest.mark.parametrize("seed", range(60))
def test_holds(seed: int) -> None:
    lookup, rows = changed(seed)
    asked = [(a, b) for a in range(VALUES) for b in range(VALUES)]
    found = lookup.holds(np.array([a << HALF | b for a, b in asked], dtype=np.int64))
    assert {pair for pair, here in zip(asked, found.tolist(), strict=True) if here} == rows


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("seed", range(60))
def test_every_row_once(seed: int, column: int) -> None:
    lookup, rows = changed(seed)
    values = np.array(Random(seed).choices(range(VALUES + 2), k=20), dtype=np.int64)
    expected = Counter(
        (i, pair[1 - column]) for i, v in enumerate(values.tolist()) for pair in rows if pair[column] == v
    )
    reach = lookup.ranges(column, values)
    for windows in WINDOWS:
        found: Counter[Pair] = Counter()
        for start, stop in windows:
            which, others = reach.window(start, stop)
            found.update(zip(which.tolist(), others.tolist(), strict=True))
            shown = Counter(which.tolist())
            assert stop is None or not shown or max(shown.values()) <= stop - start
        assert found == expected
    assert all(count >= expected_count for count, expected_count in zip(reach.counts, _each(expected), strict=False))


def _each(expected: Counter[Pair]) -> list[int]:
    counts = Counter(which for which, _ in expected.elements())
    return [counts[i] for i in range(20)]


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("seed", range(60))
def test_first(seed: int, column: int) -> None:
    """One row for a value at most, and one for each value none of whose rows is dead."""
    lookup, rows = changed(seed)
    values = np.arange(VALUES + 2)
    which, others = lookup.first(column, values)
    found = dict(zip(values[which].tolist(), others.tolist(), strict=True))
    assert len(found) == len(which)
    assert all(((v, o) if column == 0 else (o, v)) in rows for v, o in found.items())
    whole = Counter(pair[column] for pair in rows)
    complete = {
        v for v, n in zip(values.tolist(), lookup.ranges(column, values).counts.tolist(), strict=True) if n == whole[v]
    }
    assert complete & whole.keys() <= found.keys()
