"""An index of leading bits finds what a binary search finds."""

from __future__ import annotations

import numpy as np
import pytest

from tidelog import tuning
from tidelog.kernel.rows import HALF, Ints, layout_for
from tidelog.kernel.run import PrefixIndex, Run


def some_words(seed: int) -> Ints:
    """Evenly spread, next to each other, or with values that lead most of the rows."""
    rng = np.random.default_rng(seed)
    count, ids = int(rng.integers(1, 3_000)), int(rng.choice([3, 50, 4_000, 2**31 - 1]))
    leading = rng.integers(0, ids, count)
    if seed % 3 == 0:
        leading[: count // 2] = leading[0]
    return np.unique(leading << HALF | rng.integers(0, ids, count))


def some_keys(words: Ints, seed: int) -> Ints:
    """Present, next to one that is present, before and behind all; in any order."""
    rng = np.random.default_rng(seed)
    near = rng.choice(words, 300) + rng.integers(-1, 2, 300)
    far = rng.integers(0, int(words[-1]) + 2, 50)
    return rng.permutation(np.concatenate((near.clip(0), far, words[:1] >> 1, words[-1:] + 1, [0, 2**63 - 1])))


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("short", [0, 3, 64])
def test_search(seed: int, short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "PREFIX_STRETCH", short)
    words = some_words(seed)
    keys = some_keys(words, seed)
    assert PrefixIndex(words).search(keys).tolist() == words.searchsorted(keys).tolist()


@pytest.mark.parametrize("seed", range(30))
def test_a_run_answers_the_same_when_lookups_have_paid(seed: int) -> None:
    """Its first answers are found by a search, the last ones by the index."""
    words = some_words(3 * seed + 1)
    words = np.unique(np.concatenate((words, np.arange(tuning.INDEXED_ROWS) << HALF | 7)))
    made, there = Run(layout_for(2, 0), words.reshape(1, -1)), set(words.tolist())
    keys = some_keys(words, seed)
    for _ in range(1 + len(words) // (tuning.ROWS_PER_LOOKUP * len(keys))):
        assert made.contains_rows(keys.reshape(1, -1)).tolist() == [k in there for k in keys.tolist()]
    assert made._radix, "the index was not made"
    assert made.nbytes > words.nbytes


def test_few_lookups_and_few_rows_need_no_index() -> None:
    words = np.arange(tuning.INDEXED_ROWS, dtype=np.int64) << HALF
    large, small = Run(layout_for(2, 0), words.reshape(1, -1)), Run(layout_for(2, 0), words[:100].reshape(1, -1))
    for _ in range(tuning.ROWS_PER_LOOKUP):
        large.first((0, 1), np.arange(tuning.UNINDEXED_LOOKUPS - 1))
        small.first((0, 1), np.arange(tuning.INDEXED_ROWS))
    assert not large._radix
    assert not small._radix
