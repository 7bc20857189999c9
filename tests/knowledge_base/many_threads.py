"""Threads that change one knowledge base, and threads that read it, compared with an oracle of Python sets.

Each change moves a counter of its thread and some edges, so it always has an effect. Afterwards all changes that were
acknowledged are carried out on sets, in the order of their versions. An answer of a reader must be that of a version
that was the newest at some time between the question and the answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Thread
from typing import Any

from tidelog.errors import UsageError
from tidelog.knowledge_base import KnowledgeBase

NODES = "abcdefgh"
RULES = """
reach(?x, ?y) :- edge(?x, ?y) .
reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
apart(?x, ?y) :- node(?x), node(?y), ~reach(?x, ?y) .
"""
NODE_FACTS = " ".join(f"node({n}) ." for n in NODES)

Row = tuple[Any, ...]
Content = frozenset[Row]


@dataclass(frozen=True)
class Acknowledged:
    """A change that was made, as the caller saw it."""

    version: int
    plus: list[Row]
    minus: list[Row]
    added: Content
    removed: Content


@dataclass(frozen=True)
class Sight:
    """What a reader saw, and the newest versions before and after it looked. `of` computes it from a version."""

    question: str
    before: int
    after: int
    seen: object
    of: Callable[[Version], object]


@dataclass(frozen=True)
class Version:
    """A version of the oracle."""

    explicit: Content
    facts: Content

    @classmethod
    def of(cls, explicit: Content) -> Version:
        return cls(explicit, explicit | _derived(explicit))


def _derived(explicit: Content) -> Content:
    targets: dict[str, set[str]] = {n: set() for n in NODES}
    for name, *args in explicit:
        if name == "edge":
            targets[args[0]].add(args[1])
    reach: set[Row] = set()
    for start in NODES:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            fresh = targets[waiting.pop()] - found
            found |= fresh
            waiting += fresh
        reach |= {("reach", start, n) for n in found}
    return frozenset(reach | {("apart", x, y) for x in NODES for y in NODES if ("reach", x, y) not in reach})


@dataclass
class Rush:
    """Many threads at one knowledge base."""

    kb: KnowledgeBase
    threads: int
    changes: int  # of each thread
    readers: int = 3
    made: list[Acknowledged] = field(default_factory=list)
    sights: list[Sight] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    done: Event = field(default_factory=Event)

    def run(self) -> None:
        """Run all threads to their end."""
        self._acknowledge([], [], self.kb.apply(add=NODE_FACTS, add_rules=RULES), [("node", n) for n in NODES])
        writers = [Thread(target=self._guarded, args=(self._write, i)) for i in range(self.threads)]
        readers = [Thread(target=self._guarded, args=(self._read, i)) for i in range(self.readers)]
        for thread in (*writers, *readers):
            thread.start()
        for thread in writers:
            thread.join()
        self.done.set()
        for thread in readers:
            thread.join()

    def _guarded(self, work: Callable[[int], None], number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            self.errors.append(error)
            self.done.set()

    def _acknowledge(self, plus: list[Row], minus: list[Row], change: Any, more: Iterable[Row] = ()) -> None:
        self.made.append(
            Acknowledged(change.version, [*plus, *more], minus, frozenset(change.added), frozenset(change.removed))
        )

    def _write(self, number: int) -> None:
        chance = random.Random(number)
        for step in range(self.changes):
            plus, minus = _edges(chance, 2), _edges(chance, 3)
            plus.append(("count", f"t{number}", step))
            minus += [("count", f"t{number}", step - 1)] if step else []
            plus, minus = list(dict.fromkeys(plus)), [f for f in dict.fromkeys(minus) if f not in plus]
            change = self.kb.apply(add=_text(plus), remove=_text(minus))
            self._acknowledge(plus, minus, change)

    def _read(self, number: int) -> None:
        chance = random.Random(-number - 1)
        questions = list(_questions(self.kb._root is not None))
        while True:
            is_last = self.done.is_set()
            name, ask, of = chance.choice(questions)
            node = chance.choice(NODES)
            before = self.kb.version
            seen = ask(self.kb, node)
            self.sights.append(Sight(f"{name} {node}", before, self.kb.version, seen, partial(of, node)))
            if is_last:
                return

    def problems(self) -> Iterator[str]:
        """What was lost, or seen and never was."""
        yield from map(repr, self.errors)
        made = sorted(self.made, key=lambda c: c.version)
        numbers = [c.version for c in made]
        if numbers != list(range(1, len(made) + 1)):
            yield f"{len(made)} acknowledged changes have these versions: {numbers}"
            return
        versions = [Version(frozenset(), frozenset())]
        for change in made:
            last = versions[-1]
            versions.append(Version.of(frozenset((set(last.explicit) - set(change.minus)) | set(change.plus))))
            net = versions[-1].facts - last.facts, last.facts - versions[-1].facts
            if net != (change.added, change.removed):
                yield f"version {change.version} says +{change.added} -{change.removed}, not +{net[0]} -{net[1]}"
        if frozenset(self.kb.all_facts()) != versions[-1].facts:
            yield f"the end differs: {frozenset(self.kb.all_facts()) ^ versions[-1].facts}"
        if frozenset(self.kb.all_facts("explicit")) != versions[-1].explicit:
            yield f"explicit facts differ: {frozenset(self.kb.all_facts('explicit')) ^ versions[-1].explicit}"
        for sight in self.sights:
            candidates = versions[sight.before : sight.after + 2]  # a version is published after it is committed
            if all(sight.of(version) != sight.seen for version in candidates):
                yield f"{sight.question}: of no version from {sight.before} to {sight.after}: {sight.seen}"


def _edges(chance: random.Random, most: int) -> list[Row]:
    return [("edge", chance.choice(NODES), chance.choice(NODES)) for _ in range(chance.randint(0, most))]


def _text(facts: Iterable[Row]) -> str:
    return " ".join(f"{name}({', '.join(map(str, args))}) ." for name, *args in facts)


Ask = Callable[[KnowledgeBase, str], object]
Of = Callable[[str, Version], object]


def _questions(on_disk: bool) -> Iterator[tuple[str, Ask, Of]]:
    """Name, question, and what the answer is in a version of the oracle."""
    yield "all", lambda kb, n: frozenset(kb.all_facts()), lambda n, v: v.facts
    yield "derived", lambda kb, n: frozenset(kb.all_facts("derived")), lambda n, v: v.facts - v.explicit
    yield "lazily", _lazily, lambda n, v: v.facts
    yield "query", lambda kb, n: frozenset(kb.query(f"reach({n}, ?x), edge(?x, ?y)")), _joined
    yield "unknown", lambda kb, n: len(kb.query(f"edge({n}, new{random.getrandbits(60)})")), lambda n, v: 0
    yield "facts", lambda kb, n: frozenset(kb.facts("apart")), lambda n, v: _of(v, "apart")
    yield "status", _status, lambda n, v: (len(v.facts), len(v.explicit))
    yield "explain", _explained, lambda n, v: ("reach", n, n) in v.facts
    yield "preview", _preview, _previewed
    if on_disk:
        yield "past", lambda kb, n: frozenset(kb.at(kb.versions()[-1].version).all_facts()), lambda n, v: v.facts


def _of(version: Version, name: str) -> Content:
    return frozenset(fact[1:] for fact in version.facts if fact[0] == name)


def _joined(node: str, version: Version) -> Content:
    reached = {y for _, x, y in (f for f in version.facts if f[0] == "reach") if x == node}
    return frozenset((x, y) for x, y in _of(version, "edge") if x in reached)


def _lazily(kb: KnowledgeBase, node: str) -> Content:
    """Rows that are read one by one, while other threads go on."""
    rows = kb.all_facts()
    return frozenset(iter(rows))


def _status(kb: KnowledgeBase, node: str) -> object:
    found = kb.status()
    assert sum(counts.facts for counts in found.relations.values()) == found.facts
    return found.facts, found.explicit


def _explained(kb: KnowledgeBase, node: str) -> bool:
    try:
        return bool(kb.explain(f"reach({node}, {node})").tree())
    except UsageError:
        return False


def _preview(kb: KnowledgeBase, node: str) -> object:
    change = kb.preview(remove=f"edge({node}, a) .", add=f"edge({node}, h) .")
    return frozenset(change.added), frozenset(change.removed)


def _previewed(node: str, version: Version) -> object:
    after = Version.of((version.explicit - {("edge", node, "a")}) | {("edge", node, "h")})
    return after.facts - version.facts, version.facts - after.facts
