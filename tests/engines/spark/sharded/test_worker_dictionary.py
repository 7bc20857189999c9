"""A shipped dictionary has the same terms with the same ids, and forgets what a task made up."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.engines.spark.sharded.worker_dictionary import DictionarySnapshot, WorkerDictionary, sized, take_snapshot
from tidelog.model.terms import Term, iri


def grown(dictionary: Dictionary, name: str, count: int) -> None:
    dictionary.encode_many(pa.array([f"<{name}{i}>".encode() for i in range(count)], pa.binary()))


def there_and_back(snapshot: DictionarySnapshot) -> WorkerDictionary:
    return pickle.loads(pickle.dumps(snapshot)).open()  # type: ignore[no-any-return]


def check(opened: Dictionary, dictionary: Dictionary) -> None:
    assert len(opened) == len(dictionary)
    for id_ in {0, 1, len(dictionary) // 2, len(dictionary) - 1}:
        term = dictionary.decode(id_)
        assert opened.decode(id_) == term
        assert opened.lookup(term) == opened.encode(term) == id_
    assert opened.lookup(iri("unknown")) is None


def test_growing_in_many_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "WORKER_HASHED_TERMS", 500)
    dictionary, snapshot = Dictionary(), DictionarySnapshot()
    for step in range(60):
        grown(dictionary, f"s{step}-", 40 + step)
        before, snapshot = snapshot, take_snapshot(dictionary, tmp_path, snapshot)
        check(there_and_back(snapshot), dictionary)
        assert len(snapshot.texts) < 12 and before.size < snapshot.size
    assert 3 < len(list(tmp_path.glob("*.slots"))) < 20  # not written each time, but now and then
    assert take_snapshot(dictionary, tmp_path, snapshot) == snapshot
    snapshot.close()


def test_only_what_is_named_is_known_without_files(tmp_path: Path) -> None:
    dictionary = Dictionary()
    grown(dictionary, "x", 10)
    opened = there_and_back(sized(dictionary, DictionarySnapshot()))
    opened.preload({iri("x7"): 7})
    assert len(opened) == 10 and opened.encode(iri("x7")) == 7
    with pytest.raises(AssertionError, match="no texts"):
        opened.encode(iri("x8"))
    assert not list(tmp_path.iterdir())


def test_what_a_task_makes_is_listed_and_forgotten(tmp_path: Path) -> None:
    dictionary = Dictionary()
    grown(dictionary, "x", 10)
    opened = there_and_back(take_snapshot(dictionary, tmp_path))
    new = [opened.encode(iri("new")), opened.encode(iri("newer")), opened.encode(iri("new"))]
    assert new == [10, 11, 10] and len(opened) == 12
    assert opened.decode_many([11, 3, 10]) == ["<newer>", "<x3>", "<new>"]
    assert opened.created() == ["<new>", "<newer>"]
    opened.discard_new()
    assert len(opened) == 10 and opened.lookup(Term("<new>")) is None
