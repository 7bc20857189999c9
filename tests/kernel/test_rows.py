"""Packed rows against Python tuples: sorting, searching, expanding, in every layout."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tidelog.kernel import rows as packed
from tidelog.kernel.join import Bindings, group
from tidelog.kernel.rows import WIDE, Ints, Layout, layout_for
from tidelog.kernel.run import Run, merge, order_for

LAYOUTS = [
    Layout(0, WIDE),
    Layout(1, WIDE),
    Layout(2, WIDE),
    Layout(3, 21),
    Layout(3, WIDE),
    Layout(4, 15),
    Layout(5, WIDE),
]


def random_tuples(layout: Layout, count: int, seed: int) -> list[tuple[int, ...]]:
    """Tuples with small and with extreme ids, some of them twice."""
    rng = random.Random(seed)
    values = [0, 1, 2, 3, layout.mask - 1, layout.mask]
    return [tuple(rng.choice(values) for _ in range(layout.arity)) for _ in range(count)]


def columns_of(tuples: list[tuple[int, ...]], arity: int) -> list[Ints]:
    return [np.array([t[c] for t in tuples], dtype=np.int64) for c in range(arity)]


def tuples_of(layout: Layout, rows: Ints) -> list[tuple[int, ...]]:
    columns = [layout.unpack(rows, c).tolist() for c in range(layout.arity)]
    return list(zip(*columns, strict=True)) if columns else [()] * rows.shape[1]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_pack_and_unpack(layout: Layout) -> None:
    tuples = random_tuples(layout, 200, seed=1)
    assert tuples_of(layout, layout.pack(columns_of(tuples, layout.arity), len(tuples))) == tuples


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_distinct_sorts_like_tuples(layout: Layout) -> None:
    tuples = random_tuples(layout, 300, seed=2)
    rows = packed.distinct(layout.pack(columns_of(tuples, layout.arity), len(tuples)))
    assert tuples_of(layout, rows) == sorted(set(tuples))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("probes", [7, 1500])
def test_contains(layout: Layout, probes: int) -> None:
    here, asked = random_tuples(layout, 60, seed=3), random_tuples(layout, probes, seed=4)
    run = Run.of(layout, columns_of(here, layout.arity), len(here))
    found = run.contains(columns_of(asked, layout.arity), len(asked))
    assert found.tolist() == [t in set(here) for t in asked]


@pytest.mark.parametrize("layout", LAYOUTS[1:], ids=str)
@pytest.mark.parametrize("probes", [5, 900])
def test_ranges_of_every_prefix_of_every_order(layout: Layout, probes: int) -> None:
    here, asked = sorted(set(random_tuples(layout, 80, seed=5))), random_tuples(layout, probes, seed=6)
    run = Run.of(layout, columns_of(here, layout.arity), len(here))
    for size in range(layout.arity + 1):
        order = order_for(layout.arity, frozenset(range(layout.arity - size, layout.arity)))
        prefix = [columns_of(asked, layout.arity)[c] for c in order[:size]]
        low, high = run.ranges(order, prefix, len(asked))
        expected = [sum(all(t[c] == a[c] for c in order[:size]) for t in here) for a in asked]
        assert (high - low).tolist() == expected
        permuted = tuples_of(layout, run.in_order(order))
        for a, start, stop in zip(asked, low, high, strict=True):
            assert all(row[:size] == tuple(a[c] for c in order[:size]) for row in permuted[start:stop])


def test_ids_too_large_for_a_narrow_layout_are_absent() -> None:
    run = Run.of(Layout(3, 21), [np.array([1]), np.array([2]), np.array([3])], 1)
    large = np.array([1 + (1 << 21), 1], dtype=np.int64)
    assert run.contains([large, 2, 3], 2).tolist() == [False, True]
    low, high = run.ranges((0, 1, 2), [large], 2)
    assert (high - low).tolist() == [0, 1]


@pytest.mark.parametrize("arity", [2, 3, 4])
def test_order_for_puts_the_bound_columns_first(arity: int) -> None:
    for code in range(1 << arity):
        bound = frozenset(c for c in range(arity) if code >> c & 1)
        order = order_for(arity, bound)
        assert sorted(order) == list(range(arity))
        assert frozenset(order[: len(bound)]) == bound


def test_merge_keeps_rows_and_orders_over_layouts() -> None:
    narrow, wide = Layout(3, 21), Layout(3, WIDE)
    one = Run.of(narrow, [np.array([1, 5]), np.array([2, 1]), np.array([3, 9])], 2)
    two = Run.of(wide, [np.array([2, 1 << 25]), np.array([7, 0]), np.array([4, 4])], 2)
    one.in_order((1, 2, 0))
    merged = merge([one, two])
    assert tuples_of(wide, merged.rows) == [(1, 2, 3), (2, 7, 4), (5, 1, 9), (1 << 25, 0, 4)]
    assert tuples_of(wide, merged.in_order((1, 2, 0))) == sorted((b, c, a) for a, b, c in tuples_of(wide, merged.rows))


def test_layout_narrows_while_the_dictionary_is_small() -> None:
    assert layout_for(3, 1 << 21).words == 1
    assert layout_for(3, (1 << 21) + 1).words == 2
    assert [layout_for(a, 10).words for a in range(6)] == [1, 1, 1, 1, 1, 3]


def test_group_numbers_distinct_rows() -> None:
    rng = random.Random(7)
    rows: list[tuple[int, ...]] = [(rng.randrange(3), rng.randrange(3), rng.randrange(3)) for _ in range(100)]
    number, first = group(columns_of(rows, 3), 100)
    representatives = [rows[i] for i in first]
    assert sorted(representatives) == sorted(set(rows))
    assert [representatives[n] for n in number] == rows


def test_folding_keeps_the_number_of_matches() -> None:
    rows = Bindings({"x": np.array([1, 2, 1, 1]), "y": np.array([0, 0, 0, 1])}, 4, np.array([1, 1, 5, 2]))
    deduplicated = rows.deduplicated()
    weight = deduplicated.weight
    assert weight is not None
    weights = {(int(x), int(y)): int(w) for x, y, w in zip(*deduplicated.columns.values(), weight, strict=True)}
    assert weights == {(1, 0): 6, (1, 1): 2, (2, 0): 1}
    assert deduplicated.matches() == rows.matches() == 9


@pytest.mark.parametrize("different", [0, 1, 50, 5_000, 40_000])
def test_large_sets_that_are_nearly_the_same(different: int) -> None:
    """They are compared stretch by stretch; the answer is that of a search for each key."""
    rng = np.random.default_rng(different)
    rows = np.unique(rng.integers(0, 1 << 40, 50_000))
    fewer = np.delete(rows, rng.choice(len(rows), min(different, len(rows) - 1), replace=False))
    other = np.unique(np.concatenate((fewer, rng.integers(0, 1 << 40, different))))
    for one, two in ((rows, fewer), (fewer, rows), (rows, other), (other, rows), (other, fewer)):
        found = packed.contains(one.reshape(1, -1), two.reshape(1, -1))
        assert found.tolist() == np.isin(two, one).tolist()
