"""The knowledge base as the sweeps meet it: tiny, with thresholds so low that all of the store is at work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import tidelog
from tests.store.subject import Operation, State
from tidelog import tuning
from tidelog.errors import TidelogError
from tidelog.knowledge_base import KnowledgeBase

RULES = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."
OTHER_RULES = "source(?x) :- edge(?x, ?y), ~target(?x) . target(?y) :- edge(?x, ?y) ."
BULK = 12  # nodes of a bulk change
LOW = {(tuning, "CATALOG_ROWS"): 16, (tuning, "COMPACTED_COMMITS"): 4}


def bulk(start: int) -> str:
    """A change that is too large for the catalog, with text that Unicode and quoting make interesting."""
    facts = [
        f'label(n{i}, "knot \\"{i}\\" \\u00e9") . edge(n{i}, n{i + 1 if i % 7 else i}) .'
        for i in range(start, start + BULK)
    ]
    return " ".join(facts)


@dataclass(frozen=True)
class Knowledge:
    """`left_open`: the exemplar is not closed, as if its process had been killed, so SQLite's log is still there."""

    left_open: bool = False
    refusal: type[Exception] = TidelogError

    def __post_init__(self) -> None:
        for (module, name), value in LOW.items():
            assert hasattr(module, name)
            setattr(module, name, value)

    @property
    def operations(self) -> Mapping[str, Operation]:
        before = self._grown
        return {
            "commit": Operation(lambda kb, _: kb.apply(add="edge(n3, fresh) .", remove="edge(n1, n2) ."), before),
            "load": Operation(lambda kb, path: kb.load(_data_file(path)), before),
            "rules": Operation(lambda kb, _: kb.apply(add_rules=OTHER_RULES, remove_rules=RULES), before),
            "compact": Operation(lambda kb, _: kb.compact(keep=1), before),
            "fold": Operation(lambda kb, _: kb.apply(add="edge(n5, n9) ."), partial(self._grown, commits=3)),
            "follow a commit": Operation(
                lambda kb, _: kb.apply(add="edge(n5, n9) ."),
                before,
                meanwhile=partial(_elsewhere, lambda kb: self.commit(kb, 77)),
            ),
            "follow a compaction": Operation(
                lambda kb, _: kb.compact(keep=9), before, meanwhile=partial(_elsewhere, lambda kb: kb.compact(keep=0))
            ),
            "create": Operation(self._create, lambda path: None, opens=True),
            "open": Operation(lambda _, path: self.state(self.open(path)), self._killed, opens=True),
            "close": Operation(lambda kb, _: kb.close(), before, closes=True),
        }

    def _create(self, _: None, path: Path) -> None:
        with tidelog.open(path) as kb:
            kb.apply(add=bulk(0), add_rules=RULES)

    def _grown(self, path: Path, commits: int = 2) -> None:
        """Facts in files, and a few small changes after them in the catalog."""
        with tidelog.open(path) as kb:
            self._grow(kb, commits)

    def _grow(self, kb: KnowledgeBase, commits: int) -> None:
        kb.apply(add=bulk(0), add_rules=RULES)
        for number in range(commits):
            self.commit(kb, number)

    def _killed(self, path: Path) -> None:
        """The same without a cache, and never closed: opening has to recover it."""
        kb = tidelog.open(path)
        self._grow(kb, 2)
        for file in (path / "cache").iterdir():
            file.unlink()

    def open(self, path: Path) -> KnowledgeBase:
        return tidelog.open(path)

    def close(self, session: KnowledgeBase) -> None:
        session.close()

    def commit(self, session: KnowledgeBase, number: int) -> None:
        session.apply(add=f"edge(n{number}, m{number}) .", message=f"change {number}")

    def state(self, session: KnowledgeBase) -> State:
        versions = [v.version for v in session.versions()]
        return [session.version, _hash([session.digest(), content(session), versions])]

    def verify(self, session: KnowledgeBase) -> list[str]:
        return session.verify().problems

    def story(self, path: Path) -> Iterator[KnowledgeBase]:
        kb = tidelog.open(path)
        kb.apply(add=bulk(0), add_rules=RULES)
        yield kb
        for number in range(5):
            self.commit(kb, number)
            yield kb
        kb.apply(add=bulk(100), add_rules=OTHER_RULES)
        yield kb
        kb.compact(keep=1)
        yield kb
        kb.close()
        kb = tidelog.open(path)
        kb.apply(remove="edge(n1, n2) .", remove_rules=OTHER_RULES)
        yield kb

    def exemplar(self, path: Path, halfway: Callable[[], object]) -> None:
        with tidelog.open(path) as kb:
            self._grow(kb, 3)
            kb.compact(keep=2)
            kb.apply(add=bulk(100))
        halfway()
        kb = tidelog.open(path)
        kb.apply(add=bulk(200), add_rules=OTHER_RULES)
        self.commit(kb, 1)
        kb.apply(remove='edge(n3, n4) . label(n5, "knot \\"5\\" \\u00e9") .', message="less")
        kb.apply(add='label(n1, "small") .', message="more")
        if not self.left_open:
            kb.close()

    @property
    def questions(self) -> Mapping[str, Callable[[KnowledgeBase], Any]]:
        return {
            "point": lambda kb: sorted(kb.query("reach(n1, ?x)")),
            "join": lambda kb: _hash(sorted(map(repr, kb.query("edge(?x, ?y), label(?y, ?t)")))),
            "content": content,
            "derived": lambda kb: len(kb.facts("reach", kind="derived")),
            "version": lambda kb: [kb.version, kb.digest()],
            "versions": lambda kb: [[v.version, v.message, v.added, v.removed, v.digest] for v in kb.versions()],
            "past": lambda kb: content(kb.at(kb.versions()[0].version)),
            "difference": lambda kb: _difference(kb, kb.version, kb.version - 3),
        }

    @property
    def changes(self) -> Mapping[str, Callable[[KnowledgeBase], Any]]:
        return {
            "commit": lambda kb: [kb.apply(add="edge(n20, n30) . edge(new, n0) .").version, content(kb)],
            "compact": lambda kb: [kb.compact(keep=6), content(kb)],
        }


def content(kb: KnowledgeBase) -> str:
    """Facts, which of them are explicit, and rules, read one by one."""
    explicit, everything = (sorted(map(repr, kb.all_facts(kind))) for kind in ("explicit", "all"))
    return _hash([explicit, everything, sorted(map(str, kb.rules))])


def _elsewhere(act: Callable[[KnowledgeBase], object], path: Path) -> None:
    with tidelog.open(path) as kb:
        act(kb)


def _difference(kb: KnowledgeBase, one: int, other: int) -> str:
    change = kb.diff(one, other)
    return _hash([sorted(map(repr, change.added)), sorted(map(repr, change.removed))])


def _hash(value: object) -> str:
    return sha256(repr(value).encode()).hexdigest()[:16]


def _data_file(path: Path) -> Path:
    """A file to load, beside the watched folder."""
    file = path.parents[1] / "data.rls"
    file.write_text(bulk(300))
    return file
