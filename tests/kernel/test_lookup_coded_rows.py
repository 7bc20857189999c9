"""CodedRows rows behave like a Python set of (relation, column, column), whatever the number of bits."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tidelog.kernel.lookup import NO_ROWS, CodedRows, bits_for, encode

Row = tuple[int, int, int]


def mixed(rows: set[Row], bits: int) -> CodedRows:
    columns = np.array(sorted(rows, reverse=True), dtype=np.int64).reshape(len(rows), 3).T
    return CodedRows.of(bits, np.repeat(encode(bits, *columns), 2))


def rows_of(facts: CodedRows) -> list[Row]:
    return list(zip(facts.relations.tolist(), facts.first.tolist(), facts.second.tolist(), strict=True))


def random_rows(random: Random) -> set[Row]:
    return {(random.randrange(4), random.randrange(6), random.randrange(6)) for _ in range(random.choice((0, 3, 60)))}


@pytest.mark.parametrize("seed", range(40))
def test_set_operations(seed: int) -> None:
    random = Random(seed)
    left, right = random_rows(random), random_rows(random)
    one, other = (mixed(rows, random.choice((21, 24, 27))) for rows in (left, right))
    assert rows_of(one.plus(other)) == sorted(left | right)
    assert rows_of(one.minus(other)) == sorted(left - right)
    assert rows_of(one.common(other)) == sorted(left & right)
    assert one.holds(other).tolist() == [row in left for row in sorted(right)]
    assert rows_of(one.with_bits(27)) == sorted(left)
    assert (len(one.plus(NO_ROWS)), len(NO_ROWS.plus(one)), len(NO_ROWS.minus(one))) == (len(left), len(left), 0)


@pytest.mark.parametrize("seed", range(10))
def test_there_and_back(seed: int) -> None:
    """Cut into packed rows for each relation, and made from them."""
    rows = random_rows(Random(seed)) | {(3, 5, 5)}
    facts = mixed(rows, 24)
    packed = facts.packed()
    segments = [(number, *ends) for number, ends in facts.segments.items()]
    assert [(number, stop - start) for number, start, stop in segments] == [
        (n, len([r for r in rows if r[0] == n])) for n in sorted({r[0] for r in rows})
    ]
    parts = [packed[start:stop] for _, start, stop in segments]
    assert rows_of(CodedRows.of_rows(21, [n for n, _, _ in segments], parts)) == sorted(rows)


def test_largest_ids_and_relations_fit() -> None:
    for ids, relations in ((1 << 21, 1 << 21), (1 << 24, 1 << 15), (1 << 27, 1 << 9)):
        bits = bits_for(ids, relations)
        assert bits is not None
        last = (relations - 1, ids - 1, ids - 1)
        assert rows_of(mixed({last, (0, 0, 0)}, bits)) == [(0, 0, 0), last]
    assert bits_for((1 << 27) + 1, 1) is None
    assert bits_for(1 << 27, (1 << 9) + 1) is None
