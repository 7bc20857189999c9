"""A closed knowledge base says so, whatever it is asked; a forked process changes nothing."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import tidelog
from tests.store.forks import start
from tidelog.errors import UsageError
from tidelog.knowledge_base import KnowledgeBase

OTHER_ARGUMENTS: dict[str, object] = {"version": 1, "older": 0, "newer": 1, "prefixes": {}, "spark": None}


METHODS = sorted(name for name, _ in inspect.getmembers(KnowledgeBase, inspect.isfunction) if not name.startswith("_"))


def call(kb: KnowledgeBase, name: str) -> None:
    """Call a method with something for each argument that it must have."""
    method = getattr(kb, name)
    parameters = inspect.signature(method).parameters.values()
    method(
        *(OTHER_ARGUMENTS.get(p.name, "p(a)") for p in parameters if p.default is p.empty and p.kind < p.VAR_KEYWORD)
    )


@pytest.mark.parametrize("where", ["memory", "disk"])
@pytest.mark.parametrize("method", [m for m in METHODS if m != "close"])
def test_every_method_of_a_closed_knowledge_base_says_so(method: str, where: str, tmp_path: Path) -> None:
    kb = tidelog.open(None if where == "memory" else tmp_path / "x.kb")
    kb.apply(add="p(a) .")
    rows = kb.query("p(?x)")
    kb.close()
    kb.close()
    with pytest.raises(UsageError, match=r"closed; open it again: tidelog\.open\("):
        call(kb, method)
    with pytest.raises(UsageError, match="closed"), kb:
        pass
    assert list(rows) == [("a",)]
    assert "closed" in repr(kb)
    if where == "disk":
        with tidelog.open(tmp_path / "x.kb") as again:  # the lock is free
            assert again.apply(add="p(b) .").version == 2


FORKED: dict[str, tuple[Callable[[KnowledgeBase], object], str]] = {
    "apply": (lambda kb: kb.apply(add="p(c) ."), "fork"),
    "close": (lambda kb: kb.close(), ""),
    "query": (lambda kb: sorted(kb.query("q(?x)")), "[['a']]"),
    "unknown": (lambda kb: sorted(kb.query("q(zoe)")), "[]"),
    "preview": (lambda kb: sorted(kb.preview(add="p(d) .").added), "[['p', 'd'], ['q', 'd']]"),
    "refresh": (lambda kb: kb.refresh(), "fork"),
    "leave": (lambda kb: kb.__exit__(None, None, None), ""),
}
ON_DISK: dict[str, tuple[Callable[[KnowledgeBase], object], str]] = {
    "versions": (lambda kb: [v.version for v in kb.versions()], "fork"),
    "at": (lambda kb: len(kb.at(0).all_facts()), "fork"),
    "compact": (lambda kb: kb.compact(), "fork"),
}


@pytest.mark.parametrize("where", ["memory", "disk"])
@pytest.mark.parametrize("name", [*FORKED, *ON_DISK])
def test_a_fork_reads_and_changes_nothing(name: str, where: str, tmp_path: Path) -> None:
    if where == "memory" and name in ON_DISK:
        pytest.skip("memory has no past")
    ask, expected = {**FORKED, **ON_DISK}[name]
    with tidelog.open(None if where == "memory" else tmp_path / "x.kb") as kb:
        kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")

        def work(say: Callable[[object], None]) -> None:
            try:
                found = ask(kb)
                say("" if found is None else str([list(row) if isinstance(row, tuple) else row for row in found]))  # type: ignore[attr-defined]
            except UsageError as error:
                say(str(error))

        (said,) = start(work).wait().said
        assert expected in said if expected else said == ""
        assert ("open it again" in said) == (expected == "fork")
        assert kb.apply(add="p(b) .").version == 2
        if where == "disk":
            assert kb.verify(recompute=True).ok
    if where == "disk":
        with tidelog.open(tmp_path / "x.kb") as again:
            assert again.apply(add="p(e) .").version == 3


def test_a_fork_does_not_hold_the_lock_of_its_parent(tmp_path: Path) -> None:
    kb = tidelog.open(tmp_path / "x.kb")
    kb.apply(add="p(a) .")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)  # until the parent has finished
        os._exit(0)
    os.close(reading)
    kb.close()
    with tidelog.open(tmp_path / "x.kb") as again:
        assert again.apply(add="p(b) .").version == 2
    os.close(writing)
    os.waitpid(child, 0)
