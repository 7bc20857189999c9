"""Replacing a relation, going back to a version, backups: each compared with sets, or with digests."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest

import tidelog
from tests.store.forks import start
from tidelog.cli import main
from tidelog.errors import CorruptionError, InputError, StoreError, UsageError
from tidelog.knowledge_base import KnowledgeBase

RULES = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."


def small(path: Path) -> KnowledgeBase:
    kb = tidelog.open(path)
    kb.apply(add="edge(a, b) . edge(b, c) . node(a) . edge(c, a) .", add_rules=RULES)
    return kb


@pytest.mark.parametrize("seed", range(10))
def test_replace_is_the_smallest_change(seed: int) -> None:
    chance = random.Random(seed)
    kb, fresh = tidelog.open(), tidelog.open()
    old, new = ({(chance.choice("abcdef"), chance.choice("abcdef")) for _ in range(8)} for _ in range(2))
    kb.apply(add={"edge": list(old), "node": [("a",)]}, add_rules=RULES)
    change = kb.replace("edge", list(new))
    fresh.apply(add={"edge": list(new), "node": [("a",)]}, add_rules=RULES)
    assert kb.digest() == fresh.digest()
    assert set(change.added.of("edge")) == {("edge", *row) for row in new - old}
    assert set(change.removed.of("edge")) == {("edge", *row) for row in old - new}
    assert kb.replace("edge", list(new)).version == kb.version == change.version


INPUTS: dict[str, Callable[[Path], object]] = {
    "rows": lambda folder: [("b", "c"), ("x", "y")],
    "text": lambda folder: "edge(b, c) . edge(x, y) .",
    "pandas": lambda folder: pandas.DataFrame({"from": ["b", "x"], "to": ["c", "y"]}),
    "path": lambda folder: folder / "new edges.csv",
    "name": lambda folder: str(folder / "other.csv"),
}


@pytest.mark.parametrize("name", INPUTS)
def test_replace_takes(name: str, tmp_path: Path) -> None:
    for file in ("new edges.csv", "other.csv"):
        (tmp_path / file).write_text("b,c\nx,y\n")
    with small(tmp_path / "x.kb") as kb:
        change = kb.replace("edge", INPUTS[name](tmp_path))
        assert sorted(kb.facts("edge")) == [("b", "c"), ("x", "y")]
        assert (sorted(change.removed.of("edge")), change.notes) == ([("edge", "a", "b"), ("edge", "c", "a")], ())
        assert sorted(kb.facts("node")) == [("a",)]
        assert kb.replace("edge", []).version == 3
        assert len(kb.facts("reach")) == 0


def test_replace_refuses_facts_of_other_relations(tmp_path: Path) -> None:
    with small(tmp_path / "x.kb") as kb:
        with pytest.raises(InputError, match="the input has facts of node, and edge is to be replaced"):
            kb.replace("edge", "edge(a, b) . node(b) .")
        assert kb.version == 1


def test_load_replace_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kb, edges = str(tmp_path / "x.kb"), tmp_path / "edge.csv"
    with small(Path(kb)):
        pass
    edges.write_text("a,b\nb,d\n")
    assert main(["load", kb, str(edges), "--replace", "--show", "9"]) == 0
    assert "+ edge(b, d) ." in capsys.readouterr().out
    assert main(["load", kb, str(edges), "--replace", "--relation", "node"]) == 1
    assert main(["load", kb, str(edges), "--replace", "--relation", "link"]) == 0
    with tidelog.open(kb) as again:
        assert sorted(again.facts("edge")) == sorted(again.facts("link")) == [("a", "b"), ("b", "d")]


@pytest.mark.parametrize("seed", range(6))
def test_revert_equals_the_version(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    with small(tmp_path / "x.kb") as kb:
        for step in range(6):
            name = f"edge({chance.choice('abc')}, n{step})"
            rule = f"extra{step}(?x) :- edge(?x, n{step}) ."
            kb.apply(add=f"{name} .", remove="edge(b, c) ." if step == 3 else None, add_rules=rule)
        kb.apply(remove_rules=RULES, options={"strict": True})
        version = chance.randint(0, 6)
        change = kb.revert(version)
        assert change.version == kb.version == 9
        past = kb.at(version)
        assert kb.digest() == past.digest()
        assert sorted(map(str, kb.rules)) == sorted(map(str, past.rules))
        assert (kb.options, kb.prefixes) == (past.options, past.prefixes)
        assert kb.verify(recompute=True).ok
        assert kb.versions()[-1].message == f"revert to version {version}"
        assert kb.revert(9).version == 9
        with pytest.raises(UsageError, match="there is no version 99"):
            kb.revert(99)
    with tidelog.open(tmp_path / "x.kb") as again:
        assert again.version == 9
        assert again.apply(add="edge(z, z) .").version == 10


def test_backup_and_restore(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, copy, restored = (tmp_path / name for name in ("x.kb", "copy.kb", "restored.kb"))
    with small(path) as kb:
        kb.apply(add={"edge": [(f"n{i}", f"m{i}") for i in range(25_000)]})  # large enough for files
        kb.apply(remove="edge(a, b) .")
        assert main(["backup", str(path), str(copy)]) == 0
        with tidelog.open(copy) as other:
            assert (other.version, other.digest()) == (3, kb.digest())
            assert other.verify(recompute=True).ok
            assert other.at(1).digest() == kb.at(1).digest()
            other.apply(add="edge(only, here) .")
        with pytest.raises(StoreError, match="exists already"):
            kb.backup(copy)
        kb.compact(keep=0)
    assert main(["restore", str(copy), str(restored)]) == 0
    assert capsys.readouterr().out == f"{copy}: version 3\n{restored}: version 4\n"
    with tidelog.open(restored) as again:
        assert len(again.query("edge(only, ?x)")) == 1
        assert again.verify(recompute=True).ok


def test_restore_refuses_a_damaged_backup(tmp_path: Path) -> None:
    with small(tmp_path / "x.kb") as kb:
        kb.apply(add={"edge": [(f"n{i}", f"m{i}") for i in range(25_000)]})
        kb.backup(tmp_path / "copy.kb")
    file = next((tmp_path / "copy.kb" / "runs").iterdir())
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.unlink()
    file.write_bytes(data)
    assert main(["restore", str(tmp_path / "copy.kb"), str(tmp_path / "again.kb")]) == 1
    assert not (tmp_path / "again.kb").exists()


def test_backups_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "x.kb"
    small(path).close()

    def write(say: Callable[[object], None]) -> None:
        with tidelog.open(path) as kb:
            say("ready")
            for i in range(80):
                kb.apply(add=f"edge(n{i % 9}, m{i}) .")
                if i % 20 == 19:
                    kb.compact(keep=5)

    running = start(write)
    copies = []
    with tidelog.open(path, read_only=True) as kb:
        for number in range(8):
            version = kb.backup(tmp_path / f"copy{number}.kb")
            copies.append((version, tmp_path / f"copy{number}.kb"))
    assert running.wait().whole
    with tidelog.open(path) as kb:
        digests = {v.version: v.digest for v in kb.versions()}
    for version, copy in copies:
        with tidelog.open(copy) as other:
            assert other.version == version
            assert other.digest() == digests.get(version, other.digest())
            assert other.verify(recompute=True).ok


@pytest.mark.parametrize("at", ["_link", "_sync"])
def test_a_killed_backup_is_not_taken_for_a_whole_one(at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tidelog.store import backup

    with small(tmp_path / "x.kb") as kb:
        kb.apply(add={"edge": [(f"n{i}", f"m{i}") for i in range(25_000)]})
    monkeypatch.setattr(backup, at, lambda *_: os.kill(os.getpid(), signal.SIGKILL))

    def copy(say: Callable[[object], None]) -> None:
        with tidelog.open(tmp_path / "x.kb") as kb:
            kb.backup(tmp_path / "copy.kb")

    assert start(copy).wait().signal == signal.SIGKILL
    monkeypatch.undo()
    assert not (tmp_path / "copy.kb").exists()
    (left,) = tmp_path.glob(".copy.kb.*")
    with pytest.raises((CorruptionError, StoreError)):
        tidelog.open(left, create=False)
    with tidelog.open(tmp_path / "x.kb") as kb:
        kb.backup(tmp_path / "copy.kb")
