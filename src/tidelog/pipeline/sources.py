"""Everything that is to be read, as files that tasks can open: facts and rows held here are written to files first.

Terms stay exactly as they are: the columns are marked as texts of terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from uuid import uuid4

from tidelog import formats
from tidelog.dictionary.arena import indices
from tidelog.dictionary.batch import Batch, batch_of_terms
from tidelog.formats import Reading
from tidelog.inputs import FrameSource, Input
from tidelog.model.facts import Fact


def readings(source: Input, directory: Path) -> list[Reading]:
    """The files of an input, in its order; DataFrames, and facts without arguments, are not among them."""
    held = [_stored(batch, directory) for batch in _batches_of(source.facts)]
    return held + [reading for batches in source.batches for reading in _readings(batches, directory)]


def _readings(batches: Iterable[Batch], directory: Path) -> Iterator[Reading]:
    if isinstance(batches, Reading):
        yield batches
    elif not isinstance(batches, FrameSource):
        yield from (_stored(batch, directory) for batch in batches if batch.codes)


def _stored(batch: Batch, directory: Path) -> Reading:
    path = directory / f"{uuid4().hex}.parquet"
    formats.write(path, batch.predicate, [[batch.terms.take(indices(column)) for column in batch.codes]])
    return formats.read(path, predicate=batch.predicate)


def _batches_of(facts: Iterable[Fact]) -> Iterator[Batch]:
    ordered = sorted((f for f in facts if f.args), key=_relation)
    for (predicate, _), some in groupby(ordered, _relation):
        yield batch_of_terms(predicate, [fact.args for fact in some])


def _relation(fact: Fact) -> tuple[str, int]:
    return fact.predicate, len(fact.args)
