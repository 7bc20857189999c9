"""What each task reads: files cut into spans, small files and spans put together.

How the work is cut never shows in the result: ids come from the terms alone (`encode`), and a fact's home from its ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidelog.dictionary.batch import Batch
from tidelog.formats import Reading, Refuse, Span

LARGEST = 64 << 20  # bytes of a split at most: a task stays below a gigabyte
_SMALLEST = 1 << 20  # smaller ones cost more to start than to read
_ROUNDS = 3  # splits for each core, so that an uneven end does not matter


@dataclass(frozen=True, slots=True)
class Split:
    """A file, or a span of it."""

    reading: Reading
    span: Span | None
    size: int

    def batches(self, refuse: Refuse | None) -> Iterator[Batch]:
        return self.reading.refusing(refuse).batches(self.span)


def plan(readings: Sequence[Reading], cores: int, largest: int | None = None) -> list[list[Split]]:
    """The splits of each task, at least of one, in the order of the files."""
    size = largest or _split_size(sum(r.size for r in readings), cores)
    tasks: list[list[Split]] = [[]]
    room = size
    for reading in readings:
        for span, bytes_ in reading.spans(size):
            if bytes_ > room and tasks[-1]:
                tasks.append([])
                room = size
            tasks[-1].append(Split(reading, span, bytes_))
            room -= bytes_
    return tasks


def _split_size(total: int, cores: int) -> int:
    return max(_SMALLEST, min(LARGEST, total // (cores * _ROUNDS)))
