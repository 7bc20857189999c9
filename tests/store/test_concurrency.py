"""One writer at a time, several readers: each read is exactly one version, and no commit is lost."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import tidelog
from tests.store.forks import Say, start
from tests.store.running import run, shown
from tidelog.errors import LockedError
from tidelog.knowledge_base import KnowledgeBase

READERS = 4


def test_readers_see_whole_versions(folder: Path) -> None:
    _check(40, 1, folder)


@pytest.mark.usefixtures("long_tier")
def test_readers_see_whole_versions_for_long(folder: Path) -> None:
    _check(2000, 1, folder)


def test_readers_see_whole_versions_while_writers_die(folder: Path, shim: Path) -> None:
    _check(40, 4, folder, shim)


@pytest.mark.usefixtures("long_tier")
def test_readers_see_whole_versions_while_many_writers_die(folder: Path, shim: Path) -> None:
    _check(2000, 60, folder, shim)


def _check(commits: int, lives: int, folder: Path, shim: Path | None = None) -> None:
    report = run("concurrency", folder, commits, READERS, lives, shim=shim)
    assert not report.problems, shown(report.problems)
    assert report.points > 3 * READERS
    assert (report.refused > 1) == (lives > 1), "the writers were to be killed"


def test_files_stay_as_long_as_a_reader_may_need_them(folder: Path) -> None:
    with tidelog.open(folder / "x.kb") as writer:
        writer.apply(add="p(a) .")
        writer.compact()
        with tidelog.open(folder / "x.kb") as reader:
            held = _files(folder)
            writer.apply(add="p(b) .")
            writer.compact(keep=0)
            assert held and held < _files(folder)
            assert list(reader.facts("p")) == [("a",)]
        writer.compact()
        assert not held & _files(folder)


def _files(folder: Path) -> set[str]:
    return {file.name for file in (folder / "x.kb" / "runs").iterdir()}


def test_writers_take_turns(folder: Path) -> None:
    """Each opens what one of them has to make, commits and closes; whoever is locked out tries again."""
    writers, commits = 3, 5

    def work(name: int, say: Say) -> None:
        for number in range(commits):
            with tidelog.open(folder / "x.kb") as kb:
                _insist(kb, f"p(w{name}, {number}) .")

    started = [start(lambda say, name=name: work(name, say)) for name in range(writers)]  # type: ignore[misc]
    for process in started:
        ended = process.wait()
        assert ended.whole, ended.error
    with tidelog.open(folder / "x.kb") as kb:
        assert kb.version == writers * commits
        assert sorted(kb.facts("p")) == [(f"w{name}", number) for name in range(writers) for number in range(commits)]


def _insist(kb: KnowledgeBase, fact: str) -> None:
    for _ in range(10_000):
        try:
            kb.apply(add=fact)
            return
        except LockedError:
            time.sleep(0.005)
    raise AssertionError("the lock was never free")
