"""The dictionary in worker processes: texts and hash slots in files, which a task maps when it first looks up a term.

    before = take_snapshot(dictionary, scratch)            writes files; the snapshot is small and can be pickled
    after = take_snapshot(dictionary, scratch, before)     writes only what is new
    after.open()                                           in another process: the same terms with the same ids

A process keeps one `WorkerDictionary` for each dictionary, and only adds to it, because a dictionary only grows. A task
may create terms that the dictionary does not have (arithmetic, aggregates). They get temporary ids; `created` lists
them, and `discard_new` drops them. Only the driver adds terms to the dictionary.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.dictionary.arena import Ids, StoredChunk
from tidelog.model.terms import Term


@dataclass(frozen=True, slots=True)
class TextsFile:
    """A file with the texts of consecutive ids."""

    path: str
    start: int
    length: int
    nbytes: int

    def read(self, length: int | None = None) -> pa.Array:
        return pa.ipc.open_file(pa.memory_map(self.path)).get_batch(0).column(0).slice(0, length)


@dataclass(frozen=True, slots=True)
class SlotsFile:
    """A file with the hash slots of the first ids."""

    path: str
    terms: int


@dataclass(frozen=True, slots=True)
class DictionarySnapshot:
    """A dictionary in files."""

    name: str = field(default_factory=lambda: uuid4().hex)
    size: int = 0
    texts: tuple[TextsFile, ...] = ()
    slots: SlotsFile | None = None

    @property
    def covered(self) -> int:
        """The number of ids whose text is in the files."""
        return self.texts[-1].start + self.texts[-1].length if self.texts else 0

    def open(self) -> WorkerDictionary:
        """The copy of this process, with at least these terms."""
        opened = _OPENED.get(self.name)
        if opened is None:
            opened = _OPENED[self.name] = WorkerDictionary()
        opened.update(self)
        return opened

    def close(self) -> None:
        """Drop the copy of this process."""
        _OPENED.pop(self.name, None)


def take_snapshot(
    dictionary: Dictionary, scratch: Path, before: DictionarySnapshot | None = None
) -> DictionarySnapshot:
    """Write the dictionary as it is now to files, and reuse the files of `before` as far as that is worth it."""
    before = before or DictionarySnapshot()
    if before.slots is not None and before.covered == len(dictionary):
        return sized(dictionary, before)
    slots = before.slots
    if slots is None or len(dictionary) - slots.terms > max(tuning.WORKER_HASHED_TERMS, slots.terms // 8):
        size, words = dictionary.snapshot()
        slots = SlotsFile(_write_slots(scratch, words), size)
    size = len(dictionary)
    kept = list(before.texts)
    start = before.covered
    while kept and kept[-1].length < 2 * (size - start) and kept[-1].nbytes < tuning.TERM_CHUNK_BYTES // 2:
        start = kept.pop().start
    added = [_write_texts(scratch, first, array) for first, array in dictionary.arrays(start, size)]
    return DictionarySnapshot(before.name, size, (*kept, *added), slots)


def sized(dictionary: Dictionary, before: DictionarySnapshot) -> DictionarySnapshot:
    """A snapshot for tasks that read no texts: the present number of ids, and only the files of `before`."""
    return DictionarySnapshot(before.name, len(dictionary), before.texts, before.slots)


def _write_slots(scratch: Path, words: npt.NDArray[np.uint64]) -> str:
    path = scratch / f"{uuid4().hex}.slots"
    words.tofile(path)
    return str(path)


def _write_texts(scratch: Path, start: int, array: pa.Array) -> TextsFile:
    path = scratch / f"{uuid4().hex}.texts"
    batch = pa.record_batch([array], names=["term"])
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return TextsFile(str(path), start, len(array), array.nbytes)


class WorkerDictionary(Dictionary):
    """A dictionary that reads the files of a snapshot."""

    def __init__(self) -> None:
        super().__init__()
        self._snapshot = DictionarySnapshot()
        self._constants: dict[Term, int] = {}
        self._texts_of: Dictionary | None = None
        self._slots: SlotsFile | None = None
        self._own: dict[Term, int] = {}

    def update(self, snapshot: DictionarySnapshot) -> None:
        """Use a newer snapshot: one with more terms, or with more of them in files."""
        if (snapshot.size, snapshot.covered) > (self._snapshot.size, self._snapshot.covered):
            self.discard_new()
            self._snapshot = snapshot

    def preload(self, constants: Mapping[Term, int]) -> None:
        """Add terms with their ids, so that looking them up opens no file."""
        self._constants.update(constants)

    def created(self) -> list[Term]:
        """The terms that tasks have created since the last `discard_new`."""
        return list(self._own)

    def discard_new(self) -> None:
        """Drop the terms that tasks have created."""
        self._own.clear()

    def __len__(self) -> int:
        return self._snapshot.size + len(self._own)

    def _stored(self) -> Dictionary:
        """The terms in files."""
        snapshot, stored = self._snapshot, self._texts_of
        assert snapshot.slots is not None and snapshot.covered == snapshot.size, "the snapshot has no texts"
        if stored is None or self._slots != snapshot.slots:
            stored, self._slots = _stored(snapshot.texts, snapshot.slots), snapshot.slots
        for first, array in _arrays(snapshot.texts, len(stored)):
            assert first == len(stored)
            stored.encode_many(array)
        self._texts_of = stored
        return stored

    def arrays(self, start: int, stop: int | None = None) -> Iterator[tuple[int, pa.Array]]:
        return self._stored().arrays(start, stop)

    def lookup(self, term: Term) -> int | None:
        for known in (self._constants, self._own):
            if term in known:
                return known[term]
        return self._stored().lookup(term)

    def encode(self, term: Term) -> int:
        found = self.lookup(term)
        return self._own.setdefault(term, len(self)) if found is None else found

    def encode_many(self, terms: pa.Array) -> Ids:
        return np.array([self.encode(Term(t.decode())) for t in terms.to_pylist()], dtype=np.int32)

    def lookup_many(self, terms: pa.Array) -> Ids:
        return self._stored().lookup_many(terms)

    def decode(self, id_: int) -> Term:
        own = id_ - self._snapshot.size
        return self._stored().decode(id_) if own < 0 else list(self._own)[own]

    def decode_array(self, ids: npt.NDArray[np.integer]) -> pa.Array:
        if not self._own or not len(ids) or int(ids.max()) < self._snapshot.size:
            return self._stored().decode_array(ids)
        return pa.array([self.decode(int(i)).encode() for i in ids], pa.binary())


_OPENED: dict[str, WorkerDictionary] = {}


def _stored(texts: Sequence[TextsFile], slots: SlotsFile) -> Dictionary:
    """A dictionary of the terms in the slots file."""
    chunks = [
        StoredChunk(t.start, stop - t.start, partial(t.read, stop - t.start))
        for t in texts
        if (stop := min(t.start + t.length, slots.terms)) > t.start
    ]
    with open(slots.path, "rb") as file:
        words = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), dtype=np.uint64)
    return Dictionary.stored(chunks, words)


def _arrays(texts: Sequence[TextsFile], start: int) -> Iterator[tuple[int, pa.Array]]:
    """Yield (first id, texts) of the files, from an id on."""
    for file in texts:
        if file.start + file.length > start:
            first = max(start, file.start)
            yield first, file.read().slice(first - file.start)
