"""Columns of foreign values as terms: distinct values are turned into terms once each, rows are codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidelog.dictionary.batch import Batch, Codes, compact_batch

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Column:
    """Terms (perhaps repeated) and a code per row; a negative code is a row that has no term here."""

    terms: pa.Array
    codes: Codes


def encoded(values: pa.Array) -> tuple[pa.Array, Codes]:
    """Distinct values and a code per row. There must be no nulls."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    pair = values.dictionary_encode()
    return pair.dictionary, pair.indices.to_numpy()


def column_of(values: Sequence[V], codes: Codes, to_text: Callable[[V], str | None]) -> Column:
    """A column from distinct values, each made a text by a function that may refuse it."""
    terms = [to_text(value) for value in values]
    texts = pa.array([(t or "").encode() for t in terms], pa.binary())
    refused = np.array([t is None for t in terms], dtype=np.bool_)
    if refused.any():
        codes = np.where(refused[codes], np.int32(-1), codes)
    return Column(texts, codes)


def batch_of_columns(predicate: str, columns: Sequence[Column]) -> Batch:
    """The rows that have a term in every column."""
    kept = complete(columns)
    codes, start = [], 0
    for column in columns:
        codes.append((column.codes[kept] + start).astype(np.int32))
        start += len(column.terms)
    return compact_batch(predicate, pa.concat_arrays([c.terms for c in columns]), codes)


def complete(columns: Sequence[Column]) -> npt.NDArray[np.bool_]:
    """Which rows have a term in every column."""
    kept = np.ones(len(columns[0].codes), dtype=np.bool_)
    for column in columns:
        kept &= column.codes >= 0
    return kept
