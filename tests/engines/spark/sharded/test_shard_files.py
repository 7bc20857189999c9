"""Rows come back from files and parcels as they went in, every row has one home, and files say what they have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tidelog import tuning
from tidelog.engines.local.facts import WHOLE, Relation
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.shard_files import RelationRows, RowBlock, in_messages, shards_of_ids, split_by_shard
from tidelog.kernel.rows import layout_for
from tidelog.model.terms import TRIPLE

IDS = 3_000


def random_rows(relation: Relation, arity: int, count: int, weighted: bool = False) -> RelationRows:
    random = np.random.default_rng(arity * count)
    layout = layout_for(arity, IDS if arity != 4 else 1 << 20)
    columns = [random.integers(0, IDS, count, dtype=np.int64) for _ in range(arity)]
    rows = RelationRows(relation, layout, layout.pack(columns, count)).distinct()
    weight = np.arange(1, len(rows) + 1, dtype=np.int64) if weighted else None
    return RelationRows(relation, layout, rows.rows, weight)


CASES = [
    random_rows(("none", WHOLE), 0, 1),
    random_rows(("one", WHOLE), 1, 500),
    random_rows((TRIPLE, 7), 2, 5_000),
    random_rows((TRIPLE, 8), 2, 3, weighted=True),
    random_rows(("three", WHOLE), 3, 400, weighted=True),
    random_rows(("four", WHOLE), 4, 400),
]


def same(one: RelationRows, other: RelationRows) -> bool:
    weights = (one.weight is None) == (other.weight is None)
    if one.weight is not None and other.weight is not None:
        weights = bool((one.weight == other.weight).all())
    return (
        weights
        and (one.relation, one.layout) == (other.relation, other.layout)
        and np.array_equal(one.rows, other.rows)
    )


def test_all_of_them_in_a_file(tmp_path: Path) -> None:
    written = shard_files.write(tmp_path, CASES)
    piece = shard_files.read(written.path)
    assert all(same(a, b) for a, b in zip(CASES, piece.all_rows(), strict=True))
    counts = {relation: piece.count(relation) for relation in piece.relations()}
    assert counts == {r: s.rows for r, s in written.stats.items()} == {c.relation: len(c) for c in CASES}


def test_no_two_files_have_the_same_name(tmp_path: Path) -> None:
    assert shard_files.write(tmp_path, CASES).path != shard_files.write(tmp_path, CASES).path


@pytest.mark.parametrize("key", [0, 2])
def test_rows_are_kept_in_the_order_of_their_key(tmp_path: Path, key: int) -> None:
    run = shard_files.read(shard_files.write(tmp_path, [CASES[2]], key).path).run((TRIPLE, 7))
    assert run.orders() == ({(0, 1)} if key == 0 else {(0, 1), (1, 0)})
    assert (np.diff(run.in_order((1, 0))[0]) > 0).all()


@pytest.mark.parametrize("shards", [1, 2, 7])
@pytest.mark.parametrize("rows", CASES, ids=lambda rows: rows.relation[0])
def test_every_row_has_one_home_for_each_argument(rows: RelationRows, shards: int) -> None:
    for key in range(3 if rows.relation[0] == TRIPLE else max(1, rows.layout.arity)):
        parts = dict(split_by_shard(rows, key, shards))
        together = np.concatenate([p.rows for p in parts.values()], axis=1)
        assert same(
            RelationRows(rows.relation, rows.layout, together).distinct(),
            RelationRows(rows.relation, rows.layout, rows.rows),
        )
        for shard, part in parts.items():
            column = part.key_column(key) if rows.layout.arity else 0
            homes = shards_of_ids(np.atleast_1d(np.asarray(column, dtype=np.int64)), shards)
            assert (homes == shard).all() or not rows.layout.arity


def test_homes_are_spread_and_do_not_change() -> None:
    homes = shards_of_ids(np.arange(70_000, dtype=np.int64), 7)
    assert np.bincount(homes).min() > 9_000
    assert homes[:12].tolist() == [0, 6, 4, 4, 1, 6, 6, 4, 3, 1, 6, 6]


def test_messages_are_parts_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "MESSAGE_ROWS", 300)
    parts = [next(RowBlock.of_bytes(shard_files.to_bytes([part])).all_rows()) for part in in_messages(CASES[5])]
    assert max(map(len, parts)) == 150  # two words a row
    assert np.array_equal(np.concatenate([p.rows for p in parts], axis=1), CASES[5].rows)


def test_rows_with_a_value_are_found_with_and_without_an_order() -> None:
    rows = CASES[2]
    piece = RowBlock.of_bytes(shard_files.to_bytes([rows]))
    second = rows.layout.unpack(rows.rows, 1)
    for value in (*second[:20].tolist(), IDS + 1):
        assert np.array_equal(piece.having(rows.relation, value).rows, rows.rows[:, second == value])
    assert (1, 0) in piece.run(rows.relation).orders()


def test_a_column_of_few_values_is_counted(tmp_path: Path) -> None:
    layout = layout_for(2, IDS)
    rows = RelationRows(
        (TRIPLE, 1), layout, layout.pack([np.arange(900, dtype=np.int64), np.arange(900, dtype=np.int64) % 3], 900)
    )
    stats = shard_files.write(tmp_path, [rows, CASES[2]]).stats
    assert stats[TRIPLE, 1].popular == {0: 300, 1: 300, 2: 300}
    assert stats[TRIPLE, 7].popular is None
