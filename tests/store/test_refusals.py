"""What cannot be opened or changed is refused with an error that says what to do."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

import tidelog
from tests.store.forks import Say, in_fork, start
from tests.store.knowledge import LOW, RULES, bulk
from tidelog.errors import CorruptionError, LockedError, StoreError, TidelogError, UsageError
from tidelog.store import catalog

NOBODY = 65534


@pytest.fixture(autouse=True)
def _low_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    for (module, name), value in LOW.items():
        monkeypatch.setattr(module, name, value)


def closed(path: Path) -> None:
    """A knowledge base with files of every kind."""
    with tidelog.open(path) as kb:
        kb.apply(add=bulk(0), add_rules=RULES)
        kb.apply(add="edge(n1, n9) .")


def without(*patterns: str) -> Callable[[Path], None]:
    """A knowledge base that lost the files of some names."""

    def arrange(path: Path) -> None:
        closed(path)
        for pattern in patterns:
            found = list(path.glob(pattern))
            assert found, pattern
            for file in found:
                file.unlink()

    return arrange


def a_file(path: Path) -> None:
    path.write_text("not a directory")


def something_else(path: Path) -> None:
    path.mkdir()
    (path / "holiday.jpg").write_bytes(b"\xff\xd8")


def of_the_future(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "FORMAT", 99)
        tidelog.open(path).close()


def log_lost(path: Path) -> None:
    """The process was killed, and somebody tidied SQLite's log away."""

    def work(say: Say) -> None:
        kb = tidelog.open(path)
        kb.apply(add="p(a) .")
        kb.apply(add="p(b) .")

    assert in_fork(work).whole
    path.joinpath("catalog.sqlite-wal").unlink()


@dataclass(frozen=True)
class Case:
    arrange: Callable[[Path], object]
    error: type[TidelogError]
    says: tuple[str, ...]
    read_only: bool = False


CASES = {
    "a path that is a file": Case(a_file, StoreError, ("is a file", "directory", "another path")),
    "a folder of something else": Case(something_else, StoreError, ("no knowledge base", "holiday.jpg", "new path")),
    "nothing there, to be read only": Case(lambda _: None, StoreError, ("x.kb",), read_only=True),
    "a newer format": Case(of_the_future, StoreError, ("format 99", "newer tidelog")),
    "a lost catalog": Case(without("catalog.sqlite"), CorruptionError, ("catalog.sqlite is missing", "Restore")),
    "a lost log": Case(log_lost, CorruptionError, ("version 2 was committed", "Restore")),
    "lost facts": Case(without("runs/*", "cache/*"), CorruptionError, ("is missing", "Restore")),
    "lost terms": Case(without("dictionary/*", "cache/*"), CorruptionError, ("is missing", "Restore")),
}


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_be_opened(name: str, folder: Path) -> None:
    case = CASES[name]
    case.arrange(folder / "x.kb")
    with pytest.raises(case.error) as refusal:
        tidelog.open(folder / "x.kb", read_only=case.read_only)
    for text in (str(folder / "x.kb"), *case.says):
        assert text in str(refusal.value)


def test_what_was_refused_is_left_as_it_was(folder: Path) -> None:
    something_else(folder / "x.kb")
    with pytest.raises(StoreError):
        tidelog.open(folder / "x.kb")
    assert [p.name for p in (folder / "x.kb").iterdir()] == ["holiday.jpg"]


def test_a_lost_cache_is_made_again(folder: Path) -> None:
    without("cache/*")(folder / "x.kb")
    with tidelog.open(folder / "x.kb") as kb:
        assert ("n9",) in kb.query("reach(n1, ?x)")
        assert list((folder / "x.kb" / "cache").iterdir())


def test_a_second_writer(folder: Path) -> None:
    closed(folder / "x.kb")
    with ExitStack() as stack:
        one, other = (stack.enter_context(tidelog.open(folder / "x.kb")) for _ in range(2))
        one.apply(add="p(a) .")
        with pytest.raises(LockedError, match=rf"process {os.getpid()}.*one writer at a time.*reading is possible"):
            other.apply(add="p(b) .")
        assert other.version == one.version - 1
        one.close()
        assert other.apply(add="p(b) .").version == one.version + 1
        assert sorted(other.facts("p")) == [("a",), ("b",)]


def test_a_lock_ends_with_its_process(folder: Path) -> None:
    def work(say: Say) -> None:
        kb = tidelog.open(folder / "x.kb")
        kb.apply(add="p(a) .")
        signal.pause()

    with tidelog.open(folder / "x.kb") as kb:
        holder = start(work)
        try:
            _until_locked(kb)
        finally:
            os.kill(holder.pid, signal.SIGKILL)
        assert holder.wait().signal == signal.SIGKILL
        assert kb.apply(add="p(b) .").version == 2


def _until_locked(kb: tidelog.KnowledgeBase) -> None:
    for _ in range(6000):
        if kb.refresh():
            break
        time.sleep(0.01)
    with pytest.raises(LockedError, match="one writer"):
        kb.apply(add="p(b) .")


@pytest.fixture
def guarded(folder: Path) -> Iterator[Path]:
    """A knowledge base in directories that nobody may write to."""
    path = folder / "x.kb"
    closed(path)
    with tidelog.open(path) as kb:  # imports what an unprivileged process may not be able to
        assert list(kb.query("reach(n1, ?x)")) and kb.verify().ok
    inside = [path, *(p for p in path.rglob("*") if p.is_dir())]
    for place in (folder, *inside):
        place.chmod(0o555)
    for file in (p for p in path.rglob("*") if p.is_file()):
        file.chmod(0o444)
    yield path
    for place in (folder, *inside):
        place.chmod(0o755)


def test_a_read_only_directory_can_be_read(guarded: Path) -> None:
    def work(say: Say) -> None:
        _drop_privileges()
        with tidelog.open(guarded) as kb:
            say(sorted(kb.query("reach(n1, ?x)")))
            try:
                kb.apply(add="p(a) .")
            except StoreError as refusal:
                say(str(refusal))
            say([kb.version, kb.verify().problems])

    ended = in_fork(work)
    assert ended.whole, ended.error
    answer, refusal, after = ended.said
    assert ["n9"] in answer
    assert "write permission" in refusal and str(guarded) in refusal
    assert after == [2, []]


def _drop_privileges() -> None:
    """What a directory's permissions say does not hold for the superuser."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def test_opened_to_be_read_only(folder: Path) -> None:
    closed(folder / "x.kb")
    with tidelog.open(folder / "x.kb", read_only=True) as kb, pytest.raises(UsageError, match="read only"):
        kb.apply(add="p(a) .")
