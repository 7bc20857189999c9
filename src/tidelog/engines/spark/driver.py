"""The driver's side of jobs: what is sent to tasks, what comes back, and sets that have to be in files first."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from uuid import uuid4

from tidelog.dictionary import Dictionary
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.engines.local.relations import Relation
from tidelog.engines.local.tally import LocalTally
from tidelog.engines.spark import moves, pieces, site
from tidelog.engines.spark.cluster import Cluster, Stage
from tidelog.engines.spark.counts import TallyHeld, TallyLeaf, TallyNode, weighted_rows
from tidelog.engines.spark.expressions import ALIVE
from tidelog.engines.spark.job import Evaluation, Job, Wanted
from tidelog.engines.spark.moves import Move
from tidelog.engines.spark.nodes import Held, Leaf, Node, Positive, specs, walk
from tidelog.engines.spark.pieces import Rows, Written, rows_of, split
from tidelog.engines.spark.reader import Reader
from tidelog.engines.spark.results import Found, by_shard, facts_of, opened, tally_of
from tidelog.engines.spark.specs import EVERYTHING, Part, Spec
from tidelog.engines.spark.tasks import Note, run_step, settle
from tidelog.engines.spark.terms import Shipped, ship, sized
from tidelog.model.terms import Term

_NO_RULES = Evaluation({}, ())
_NO_CONSTANTS: Mapping[Term, int] = {}
_GENEROUS = 8  # shards up to which each may hand back as much as the driver holds

Stages = Callable[[str], Sequence[Stage]]


class Driver:
    """One engine's scratch directory, and the jobs it runs."""

    def __init__(self, cluster: Cluster, local: LocalEngine, scratch: Path, shards: int, small: int) -> None:
        self.name = uuid4().hex
        self.cluster = cluster
        self.local = local
        self.shards, self.small = shards, small
        self.scratch = Path(scratch) / f"engine-{self.name}"
        self.scratch.mkdir(parents=True)
        self.reader = Reader(local.dictionary, shards)
        self.reader.nodes = _Alive()
        self.jobs = 0
        self.rows_read = 0  # by all tasks
        self.wanted = Wanted()
        self._shipped = Shipped()
        self.close = weakref.finalize(self, _close, self.scratch, self.name, self._shipped)

    @property
    def dictionary(self) -> Dictionary:
        return self.local.dictionary

    def hold(self, facts: LocalFacts) -> Node:
        """A set in memory as a node: small ones stay there."""
        return Held(facts, self.scratch) if len(facts) <= self.small else self.write(facts)

    def write(self, facts: LocalFacts) -> Leaf:
        """A set in memory as files."""
        return Leaf(self._written(rows_of(facts), 0))

    def _written(self, rows: Iterable[Rows], key: int) -> list[Written | None]:
        homes: list[list[Rows]] = [[] for _ in range(self.shards)]
        for some in rows:
            for shard, there in split(some, key, self.shards):
                homes[shard].append(there)
        return [pieces.write(self.scratch, parts, key) if parts else None for parts in homes]

    def hold_tally(self, tally: LocalTally) -> TallyNode:
        if len(tally) <= self.small:
            return TallyHeld(tally, self.scratch)
        return TallyLeaf(self._written(weighted_rows(tally), 0))

    def want(self, node: Node, key: int, part: Part) -> Iterator[Move]:
        """What has to be moved before tasks can read a part of a set by an argument. It is remembered."""
        if key == 0:
            return
        self.wanted.add(part, key)
        for _, inner in list(walk((node,))):
            if isinstance(inner, Positive):
                self.force(inner)
        for _, inner in walk((node,)):
            if isinstance(inner, Leaf) and (lacking := inner.lacks(key, part)):
                yield Move(inner.id, key, frozenset(lacking))

    def wanted_of(self, node: Node, part: Part) -> Iterator[Move]:
        """The same for all arguments by which facts of these relations are kept."""
        for kept, key in self.wanted.near(part):
            yield from self.want(node, key, kept)

    def move(self, wanted: Iterable[Move]) -> None:
        """Keep relations of leaves by other arguments too."""
        together: dict[tuple[int, int], frozenset[Relation]] = {}
        for move in wanted:
            before = together.get((move.leaf, move.key), frozenset())
            together[move.leaf, move.key] = before | move.relations
        todo = tuple(Move(leaf, key, relations) for (leaf, key), relations in together.items())
        if not todo:
            return
        leaves = [ALIVE[m.leaf] for m in todo]

        def stages(path: str) -> list[Stage]:
            run = partial(moves.scatter, path, todo), partial(moves.keep, path, todo)
            return [Stage(r, self.shards) for r in run]

        found, _ = self.run(stages, leaves)
        for number, (move, leaf) in enumerate(zip(todo, leaves, strict=True)):
            assert isinstance(leaf, Leaf)
            leaf.add(move.key, move.relations, by_shard(self, found, number, "all", move.key))

    def force(self, node: Node) -> Node:
        """The node as a leaf or in memory, so that it is known how much there is."""
        node = node.now()
        if isinstance(node, Leaf | Held):
            return node
        if node.reading(EVERYTHING) <= self.small:
            result = self.hold(self.reader.whole(node.id, EVERYTHING))
        else:
            keys = tuple(sorted(self._keys(node)))
            found, _ = self.run(
                lambda path: [Stage(partial(moves.evaluate, path, node.id, keys), self.shards)], (node,)
            )
            result = facts_of(self, found, 0, "all")
        node.become(result)
        return result

    def _keys(self, node: Node) -> set[int]:
        """By which arguments all that a node is made of is there, of those that are wanted."""
        keys = self.wanted.every_key()
        for _, inner in walk((node,)):
            if isinstance(inner, Positive):
                return {0}
            if isinstance(inner, Leaf):
                keys -= {k for part, ks in self.wanted.by_part.items() for k in ks if inner.lacks(k, part)}
        return keys

    def force_tally(self, node: TallyNode) -> TallyNode:
        node = node.now()
        if isinstance(node, TallyLeaf | TallyHeld):
            return node
        found, _ = self.run(lambda path: [Stage(partial(moves.evaluate_tally, path, node.id), self.shards)], (node,))
        result = tally_of(self, found)
        node.become(result)
        return result

    def derive(
        self, rules: Evaluation, roots: Sequence[Node], constants: Mapping[Term, int], texts: bool, steps: int
    ) -> tuple[Found, Note]:
        """Run rules by their plans; the heads come back from where they are at home."""

        def stages(path: str) -> list[Stage]:
            run = [partial(run_step, path, number) for number in range(steps)]
            return [Stage(r, self.shards) for r in (*run, partial(settle, path))]

        return self.run(stages, roots, rules, constants, texts)

    def run(
        self,
        stages: Stages,
        roots: Sequence[Node | TallyNode],
        rules: Evaluation = _NO_RULES,
        constants: Mapping[Term, int] = _NO_CONSTANTS,
        texts: bool = False,
    ) -> tuple[Found, Note]:
        """One job, again if it made terms that the dictionary does not have: the driver gives them their ids."""
        while True:
            self._shipped = (ship if texts else _sized)(self.dictionary, self.scratch, self._shipped)
            job = Job(
                self.name,
                str(self.scratch),
                self.shards,
                self.local.settings.memory_budget // max(1, self.cluster.cores),
                self._shipped,
                constants,
                frozenset(ALIVE.keys()),
                specs(roots),
                self.wanted,
                self.small * min(_GENEROUS, self.shards) // self.shards,
                rules,
            )
            path = job.write()
            try:
                parcels = self.cluster.run(stages(str(path)))
            finally:
                path.unlink()
            self.jobs += 1
            self.reader.turn(self.reader.nodes, job.alive)
            found, note = opened(parcels)
            self.rows_read += note.rows_read
            if not note.created:
                return found, note
            for term in sorted(note.created):
                self.dictionary.encode(Term(term))


class _Alive(Mapping[int, Spec]):
    """What the driver itself reads: every node there is."""

    def __getitem__(self, id_: int) -> Spec:
        return ALIVE[id_].now().spec()

    def __iter__(self) -> Iterator[int]:
        return iter(list(ALIVE))

    def __len__(self) -> int:
        return len(ALIVE)


def _sized(dictionary: Dictionary, scratch: Path, before: Shipped) -> Shipped:
    return sized(dictionary, before)


def _close(scratch: Path, name: str, shipped: Shipped) -> None:
    shutil.rmtree(scratch, ignore_errors=True)
    site.close(name)
    shipped.close()
