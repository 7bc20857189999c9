"""RowCounts against `collections.Counter` over long random sequences; nothing old ever changes."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from tidelog.kernel.counts import RowCounts, WeightedRun
from tidelog.kernel.rows import WIDE, Layout
from tidelog.kernel.run import Run

Row = tuple[int, ...]

# One word, three words, and columns of a few bits whose rows are later met by wider ones.
LAYOUTS = [(Layout(2, WIDE),), (Layout(5, WIDE),), (Layout(3, 21), Layout(3, WIDE)), (Layout(1, WIDE),)]


def random_rows(random: Random, layout: Layout, most: int) -> Counter[Row]:
    large = [1 << 25, 1 << 30] if layout.bits == WIDE else []
    values = [*range(6), *large]
    weights = [-2, -1, 1, 2, 3]
    rows: Counter[Row] = Counter()
    for _ in range(random.randint(1, most)):
        rows[tuple(random.choice(values) for _ in range(layout.arity))] += random.choice(weights)
    return rows


def counts_of(rows: Counter[Row], layout: Layout) -> RowCounts:
    """Each count split over two equal rows, so that equal rows must be added up."""
    items = [(row, part) for row, count in rows.items() for part in (count + 1, -1)]
    weight = np.array([count for _, count in items], dtype=np.int64)
    return RowCounts.of_run(WeightedRun.summed(layout, packed([row for row, _ in items], layout), weight))


def packed(rows: list[Row], layout: Layout) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    columns = [np.array([row[c] for row in rows], dtype=np.int64) for c in range(layout.arity)]
    return layout.pack(columns, len(rows))


def items_of(counts: RowCounts) -> dict[Row, int]:
    run = counts.flat.run
    rows = zip(*(run.column(c).tolist() for c in run.natural), strict=True)
    return dict(zip(rows, counts.flat.weight.tolist(), strict=True))


@pytest.mark.parametrize("layouts", LAYOUTS, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_a_history_of_changes_equals_a_counter(seed: int, layouts: tuple[Layout, ...]) -> None:
    random = Random(seed)
    expected = random_rows(random, layouts[0], 120)
    counts = counts_of(expected, layouts[0])
    past = []
    for _ in range(40):
        layout = random.choice(layouts)
        change = random_rows(random, layout, random.choice([1, 3, 40]))
        if random.random() < 0.3:
            change = Counter({row: -count for row, count in random.sample(sorted(expected.items()), 3) if count})
            layout = layouts[-1]
        if random.random() < 0.5:
            counts = counts.plus(counts_of(change, layout))
        else:
            counts = counts.plus(counts_of(Counter({r: -c for r, c in change.items()}), layout).negative())
        expected = Counter({row: expected[row] + change[row] for row in expected.keys() | change.keys()})
        nonzero = {row: count for row, count in expected.items() if count}
        assert len(counts) == len(nonzero)
        assert items_of(counts) == nonzero
        past.append((counts, nonzero))
        asked = Run(layout, np.unique(packed([*random_rows(random, layout, 30)], layout), axis=1))
        look_up(counts, asked, nonzero)
    for old, was in past:
        assert items_of(old) == was


def look_up(counts: RowCounts, asked: Run, expected: dict[Row, int]) -> None:
    rows = list(zip(*(asked.column(c).tolist() for c in asked.natural), strict=True))
    assert counts.counts_of(asked).tolist() == [expected.get(row, 0) for row in rows]
    assert items_of(counts.among(asked)) == {row: expected[row] for row in rows if row in expected}
    positive = counts.positive()
    found = set(zip(*(positive.column(c).tolist() for c in positive.natural), strict=True))
    assert found == {row for row, count in expected.items() if count > 0}


def test_adding_little_to_much_copies_nothing_large() -> None:
    layout = Layout(2, WIDE)
    many = RowCounts.of_run(WeightedRun.once(Run.of(layout, [np.arange(100_000), 7], 100_000)))
    few = RowCounts.of_run(WeightedRun.once(Run.of(layout, [np.arange(50, 60), 7], 10)))
    less = many.plus(few.negative())
    assert less.runs[0] is many.runs[0]
    assert (len(less), len(less.plus(few))) == (99_990, 100_000)
