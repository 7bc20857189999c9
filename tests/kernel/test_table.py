"""Tables against Python sets over long random sequences of additions and removals; nothing old ever changes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tidelog.kernel.budget import Budget
from tidelog.kernel.join import UNIT, Bindings, probe
from tidelog.kernel.rows import WIDE, Layout
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table

PAIR = Layout(2, WIDE)
Pairs = set[tuple[int, int]]


def table_of(pairs: Pairs) -> Table:
    rows = sorted(pairs)
    columns = [np.array([p[c] for p in rows], dtype=np.int64) for c in (0, 1)]
    return Table((Run.of(PAIR, columns, len(rows)),))


def pairs_of(table: Table | None) -> Pairs:
    if table is None:
        return set()
    return set(zip(table.flat.column(0).tolist(), table.flat.column(1).tolist(), strict=True))


def random_pairs(rng: random.Random, most: int, domain: int = 12) -> Pairs:
    return {(rng.randrange(domain), rng.randrange(domain)) for _ in range(rng.randint(1, most))}


@pytest.mark.parametrize("seed", range(30))
def test_a_history_of_changes_equals_sets(seed: int) -> None:
    rng = random.Random(seed)
    expected = random_pairs(rng, 120)
    table: Table | None = table_of(expected)
    past: list[tuple[Table, Pairs]] = []
    for _ in range(60):
        some = random_pairs(rng, rng.choice([1, 3, 40]))
        if rng.random() < 0.5:
            table, expected = (table.plus(table_of(some)) if table else table_of(some)), expected | some
        else:
            table, expected = (table.minus(table_of(some)) if table else None), expected - some
        assert (len(table) if table else 0) == len(expected)
        assert pairs_of(table) == expected
        if table:
            past.append((table, expected))
            asked = sorted(random_pairs(rng, 50))
            columns = [np.array([p[c] for p in asked], dtype=np.int64) for c in (0, 1)]
            assert table.contains_run(Run.of(PAIR, columns, len(asked))).tolist() == [p in expected for p in asked]
            other = random_pairs(rng, 60)
            assert pairs_of(table.common(table_of(other))) == expected & other
    for old, was in past:
        assert pairs_of(old) == was


@pytest.mark.parametrize("seed", range(30))
def test_differences_of_relatives(seed: int) -> None:
    """Tables made from one another share runs: only what they do not share, and what is dead, is looked at."""
    rng = random.Random(seed)
    pairs = random_pairs(rng, 200, domain=40)
    made: list[tuple[Table, Pairs]] = [(table_of(pairs), pairs)]
    for _ in range(12):
        table, pairs = rng.choice(made)
        some = random_pairs(rng, rng.choice([2, 6, 30]), domain=40)
        if rng.random() < 0.5:
            made.append((table.plus(table_of(some)), pairs | some))
        elif (left := table.minus(table_of(some))) is not None:
            made.append((left, pairs - some))
    for one, mine in made:
        for other, theirs in made:
            found = one.minus(other)
            assert pairs_of(found) == mine - theirs
            assert (len(found) if found else 0) == len(mine - theirs)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("block", [8 * 6 * 3, 1 << 20])
def test_join_equals_nested_loops_in_any_block_size(seed: int, block: int) -> None:
    rng = random.Random(seed)
    pairs, extra, gone = random_pairs(rng, 90), random_pairs(rng, 6), random_pairs(rng, 10)
    table = table_of(pairs).plus(table_of(extra)).minus(table_of(gone))
    live = (pairs | extra) - gone
    assert table is not None
    left = [(rng.randrange(12), rng.randrange(12)) for _ in range(25)]
    bindings = Bindings({"x": np.array([a for a, _ in left]), "y": np.array([b for _, b in left])}, len(left))
    budget = _Tight(limit=1 << 40, block=block)
    for args in [("x", "z"), ("z", "y"), ("x", "y"), ("z", "w"), (3, "z"), ("z", "z"), ("x", 4), ("y", "x")]:
        names = [n for n in dict.fromkeys(("x", "y", *args)) if isinstance(n, str)]
        expected = sorted(
            tuple(match[n] for n in names)
            for row in left
            for pair in live
            if (match := unify(row, args, pair)) is not None
        )
        blocks = list(probe(bindings, table, args).carry_out(names, budget))
        found = [row for b in blocks for row in zip(*(b.columns[n].tolist() for n in names), strict=True)]
        assert sorted(found) == expected
        mask = probe(bindings, table, args).bindings_with_match(budget)
        assert mask.tolist() == [any(unify(row, args, pair) is not None for pair in live) for row in left]


def unify(row: tuple[int, int], args: tuple[object, ...], pair: tuple[int, int]) -> dict[object, int] | None:
    match: dict[object, int] = {"x": row[0], "y": row[1]}
    for arg, value in zip(args, pair, strict=True):
        if (arg if isinstance(arg, int) else match.setdefault(arg, value)) != value:
            return None
    return match


class _Tight(Budget):
    """Blocks far smaller than any sensible budget, so that their edges are exercised."""

    def block_rows(self, columns: int) -> int:
        return max(1, self.block // (8 * columns))


def test_scanning_a_table_from_nothing() -> None:
    table = table_of({(1, 2), (3, 4)})
    (block,) = probe(UNIT, table, ("x", "y")).carry_out(("x", "y"), Budget(1 << 40, 1 << 20))
    assert sorted(zip(block.columns["x"].tolist(), block.columns["y"].tolist(), strict=True)) == [(1, 2), (3, 4)]


def test_a_small_change_shares_the_large_run() -> None:
    large = table_of({(i, i) for i in range(5000)})
    grown = large.plus(table_of({(1, 2)}))
    shrunk = grown.minus(table_of({(7, 7)}))
    assert shrunk is not None
    assert grown.runs[0] is large.runs[0]
    assert shrunk.runs[0] is large.runs[0]
    assert len(shrunk) == 5000


def test_the_number_of_runs_stays_logarithmic() -> None:
    table = table_of({(-1 & 0xFFFF, 0)})
    for i in range(1000):
        table = table.plus(table_of({(i, i)}))
    assert len(table) == 1001
    assert len(table.runs) <= 12


@pytest.mark.parametrize("seed", range(20))
def test_the_difference_of_related_tables(seed: int) -> None:
    rng = random.Random(seed)
    before = random_pairs(rng, 100)
    table = table_of(before)
    after, expected = table, before
    for _ in range(4):
        some = random_pairs(rng, 30)
        after, expected = after.plus(table_of(some)), expected | some
    assert pairs_of(after.minus(table)) == expected - before
    assert pairs_of(table.minus(after)) == set()
    assert table.minus(table) is None


def test_tombstones_of_another_layout() -> None:
    narrow, wide = Layout(3, 21), Layout(3, WIDE)
    large = 1 << 25

    def table(layout: Layout, rows: list[tuple[int, int, int]]) -> Table:
        return Table((Run.of(layout, [np.array([r[c] for r in rows]) for c in range(3)], len(rows)),))

    full = table(narrow, [(i, 2, 3) for i in range(40)]).plus(table(wide, [(large + i, 2, 3) for i in range(3)]))
    left = full.minus(table(wide, [(large, 2, 3), (1, 2, 3)]))
    assert left is not None
    assert left.tombstones is not None
    blocks = probe(UNIT, left, ("x", 2, 3)).carry_out(("x",), Budget(1 << 40, 1 << 20))
    assert sorted(v for b in blocks for v in b.columns["x"].tolist()) == [0, *range(2, 40), large + 1, large + 2]
