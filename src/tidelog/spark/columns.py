"""Columns of term ids as columns of a DataFrame: plain texts, exact texts, or numbers where a schema says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidelog.dictionary import Dictionary
from tidelog.dictionary.batch import first_bytes
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.errors import InputError
from tidelog.kernel.rows import Ints
from tidelog.model.terms import Term, plain, to_value
from tidelog.spark.slices import Slice, rows

PLAIN, EXACT = "plain", "ntriples"
FORMS = (PLAIN, EXACT)
# The types that a schema may ask for, as Spark and as Arrow call them.
TYPES = {
    "string": pa.string(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}
_KINDS: dict[type, str] = {bool: "boolean", float: "double"}
_LONG = 1 << 63
_LESS, _QUOTE = b'<"'
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def column(ids: Ints, dictionary: Dictionary, form: str, type_: pa.DataType, name: str) -> pa.Array:
    """The terms of ids, each of them looked at once."""
    encoded = pa.array(ids).dictionary_encode()
    texts = dictionary.decode_array(encoded.dictionary.to_numpy()).cast(pa.binary())
    values = texts.cast(pa.string()) if form == EXACT else _plain(texts)
    return _typed(values, type_, name).take(encoded.indices)


def _plain(texts: pa.Array) -> pa.Array:
    """Terms without brackets, quotes and datatype; names and IRIs, which most are, all at once."""
    inner = pc.binary_slice(texts, 1, -1).cast(pa.string())
    other = first_bytes(texts) != _LESS
    if not other.any():
        return inner
    mask = pa.array(other)
    others = pa.array([plain(Term(t.decode())) for t in texts.filter(mask).to_pylist()], pa.string())
    return pc.replace_with_mask(inner, mask, others)


def _typed(texts: pa.Array, type_: pa.DataType, name: str) -> pa.Array:
    try:
        if pa.types.is_floating(type_):
            return pa.array(map(float, texts.to_pylist()), type_)  # Arrow does not read INF and NaN
        if pa.types.is_boolean(type_):
            return pa.array([_BOOLEANS[t] for t in texts.to_pylist()], type_)
        return texts.cast(type_)
    except (pa.ArrowException, ValueError, KeyError) as error:
        raise InputError(f"column {name} is not all of type {type_}: {error}; read it as string") from None


def types(facts: LocalFacts, arity: int) -> list[str]:
    """The types that hold all values of each column: numbers of one kind, booleans, or else strings."""
    return [_common_type(lambda c=c: _texts(facts, c)) for c in range(arity)]  # type: ignore[misc]


def _texts(facts: LocalFacts, column: int) -> Iterator[pa.Array]:
    for some in rows(facts, facts, Slice(), "all"):
        distinct = pc.unique(pa.array(some.columns[column])).to_numpy()
        yield facts.dictionary.decode_array(distinct).cast(pa.binary())


def _common_type(texts: Callable[[], Iterator[pa.Array]]) -> str:
    """Mostly known after the first block: one name or string among the values makes them strings."""
    kinds: set[str] = set()
    for some in texts():
        if np.any(first_bytes(some) != _QUOTE):
            return "string"
        kinds |= {_kind(Term(t.decode())) for t in some.to_pylist()}
        if len(kinds) > 1 or "string" in kinds:
            return "string"
    return kinds.pop() if kinds else "string"


def _kind(term: Term) -> str:
    value = to_value(term)
    if type(value) is int:
        return "long" if -_LONG <= value < _LONG else "string"
    return _KINDS.get(type(value), "string")
