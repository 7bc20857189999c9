"""The second stage: a task gives numbers to the terms of its buckets.

A term that the dictionary knows keeps its id. The others are sorted, bucket by bucket; a new term's id is

    terms in the dictionary + new terms in the buckets before + new terms before it in its bucket

which depends on the set of new terms alone. The first two are known to the driver only when all tasks are done, so a
task answers each section with the third, its rank: for a term that has an id, `~id`.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidelog.dictionary import Dictionary
from tidelog.dictionary.arena import Ids, indices
from tidelog.engines.spark.cluster import Parcel
from tidelog.engines.spark.terms import Shipped
from tidelog.errors import InputError
from tidelog.pipeline import arrays
from tidelog.pipeline.arrays import Array
from tidelog.pipeline.clock import Clock, Spell
from tidelog.pipeline.parse import FAILED, REPORT, Parsed, Parsing
from tidelog.pipeline.sections import terms_of

NUMBERED = "numbered"


class Numbered(NamedTuple):
    """What a task tells the driver, and what others have told it that the driver must know."""

    low: int  # its first bucket
    counts: list[int]  # new terms of each of its buckets
    terms: str  # a file with these, see `new_terms`
    answers: str  # a file, see `answer`
    spell: Spell
    parsed: list[Parsed]


@dataclass
class _Arrived:
    """What the sections have sent to one task."""

    terms: dict[int, list[tuple[str, pa.Array]]] = field(default_factory=dict)  # by bucket, with the section's key
    parsed: list[Parsed] = field(default_factory=list)
    failed: list[tuple[tuple[int, int], InputError]] = field(default_factory=list)

    @classmethod
    def of(cls, parcels: Iterable[Parcel]) -> _Arrived:
        arrived = cls()
        for parcel in parcels:
            if parcel.tag == FAILED:
                arrived.failed.append(pickle.loads(parcel.payload))
            elif parcel.tag == REPORT:
                arrived.parsed.append(pickle.loads(parcel.payload))
            elif not arrived.failed:
                arrived._add_terms(parcel)
        return arrived

    def _add_terms(self, parcel: Parcel) -> None:
        (key, low), texts = arrays.unpack(parcel.payload)
        for bucket, terms in enumerate(terms_of(*texts), low):
            if len(terms):
                self.terms.setdefault(bucket, []).append((key, terms))


def number(parsing: Parsing, shipped: Shipped | None, place: int, parcels: Iterable[Parcel]) -> Iterator[Parcel]:
    arrived = _Arrived.of(parcels)
    if arrived.failed:
        yield Parcel(place, FAILED, pickle.dumps(min(arrived.failed, key=lambda f: f[0])))
        return
    clock, (low, high) = Clock(), parsing.buckets(place)
    dictionary = shipped.open() if shipped else None
    counts, texts, answers = [], [], _Answers()
    for bucket in range(low, high):
        new = _number_bucket(arrived.terms.pop(bucket, []), dictionary, answers)
        counts.append(len(new))
        texts += arrays.texts_as_arrays(new)
    written = arrays.write(parsing.directory, None, texts), answers.write(parsing.directory)
    report = Numbered(low, counts, *written, clock.spell(), arrived.parsed)
    yield Parcel(place, NUMBERED, pickle.dumps(report))


def _number_bucket(parts: list[tuple[str, pa.Array]], dictionary: Dictionary | None, answers: _Answers) -> pa.Array:
    """The new terms of a bucket, in their order."""
    if not parts:
        return pa.array([], pa.binary())
    encoded = pa.concat_arrays([terms for _, terms in parts]).dictionary_encode()
    terms, positions = encoded.dictionary, encoded.indices.to_numpy()
    known = np.full(len(terms), -1, dtype=np.int32) if dictionary is None else dictionary.lookup_many(terms)
    is_new = np.flatnonzero(known < 0)
    new = terms if len(is_new) == len(terms) else terms.take(indices(is_new))
    order = pc.sort_indices(new)
    numbers = ~known
    numbers[is_new[order.to_numpy()]] = np.arange(len(new), dtype=np.int32)
    answers.add([key for key, _ in parts], [len(t) for _, t in parts], numbers[positions])
    return new.take(order)


class _Answers:
    """What each section is answered, bucket after bucket."""

    def __init__(self) -> None:
        self.parts: dict[str, list[Ids]] = {}

    def add(self, keys: list[str], counts: list[int], numbers: Ids) -> None:
        for key, part in zip(keys, np.split(numbers, np.cumsum(counts)[:-1]), strict=True):
            self.parts.setdefault(key, []).append(part)

    def write(self, directory: str) -> str:
        """One file for all sections; `answer` finds the part of one."""
        parts: list[Array] = [np.concatenate(parts) for parts in self.parts.values()]
        ends = np.cumsum([len(p) for p in parts]).tolist()
        words = {key: [end - len(p), end] for key, p, end in zip(self.parts, parts, ends, strict=True)}
        return arrays.write(directory, words, [np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)])


_opened = lru_cache(maxsize=64)(arrays.read)


def answer(path: str, key: str) -> Ids:
    """What a section was answered, if it had terms in the buckets of the task that wrote the file."""
    words, (numbers,) = _opened(path)
    start, stop = words.get(key, (0, 0))
    answered: Ids = numbers[start:stop]
    return answered


def new_terms(path: str) -> Iterator[pa.Array]:
    """The new terms of one bucket after the other."""
    _, texts = arrays.read(path)
    return (arrays.texts_of_arrays(o, d) for o, d in zip(texts[::2], texts[1::2], strict=True))
