"""The driver's side of jobs: what is sent to tasks, what comes back, and sets that have to be in files first.

What tasks hand back, as sets and tallies: files of shards, or few rows that the driver keeps.

Few facts looked up in a large expression by the driver itself: nothing is evaluated for that, and no job run.
"""

from __future__ import annotations

import pickle
import shutil
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from operator import or_
from pathlib import Path
from uuid import uuid4

from tidelog.dictionary import Dictionary
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.fact_builder import FactBuilder
from tidelog.engines.local.facts import LocalFacts, Relation
from tidelog.engines.local.tally import LocalTally
from tidelog.engines.spark.cluster.cluster import Cluster, Parcel, Stage, delete
from tidelog.engines.spark.sharded import shard_files, tasks, worker_cache
from tidelog.engines.spark.sharded.nodes import ALIVE, Held, Leaf, Node, Only, Op, Positive, specs, walk
from tidelog.engines.spark.sharded.set_expressions import EVERYTHING, Part, Spec
from tidelog.engines.spark.sharded.shard_files import Piece, Rows, Written, rows_of, split
from tidelog.engines.spark.sharded.tally_nodes import Of, Once, Sum, TallyHeld, TallyLeaf, TallyNode, weighted_rows
from tidelog.engines.spark.sharded.tasks import NOTE, Move, Note, Result, gather, run_step, settle
from tidelog.engines.spark.sharded.worker_cache import Evaluation, Job, Reader, Wanted
from tidelog.engines.spark.sharded.worker_dictionary import Shipped, ship, sized
from tidelog.kernel.counts import RowCounts, WeightedRun
from tidelog.kernel.run import Run
from tidelog.model.terms import Term

Found = list[tuple[int, Result]]  # shard, and what it handed back


def opened(parcels: Iterable[Parcel]) -> tuple[Found, Note]:
    """Results, and all notes as one."""
    found: Found = []
    notes = [Note()]
    for parcel in parcels:
        told = pickle.loads(parcel.payload)
        if parcel.tag == NOTE:
            notes.append(told)
        else:
            found.append((parcel.target, told))
    created = tuple(dict.fromkeys(term for note in notes for term in note.created))
    return found, Note(sum(n.derivations for n in notes), created, sum(n.rows_read for n in notes))


def facts_of(driver: Driver, found: Found, number: int, kind: str = "all") -> Node:
    """What came back as a set."""
    mine = [(shard, r) for shard, r in found if (r.result, r.kind) == (number, kind)]
    if all(r.written is None for _, r in mine if r.key == 0):
        gathered = FactBuilder(driver.dictionary, driver.local.budget)
        for _, r in mine:
            if r.key == 0:
                gather(gathered, r.rows)
        facts = gathered.facts()
        if len(facts) <= driver.small:
            delete([r.written.path for _, r in mine if r.written is not None])
            return driver.hold(facts)
    leaf = Leaf(by_shard(driver, mine, number, kind, 0))
    for key in sorted({r.key for _, r in mine} - {0}):
        written = by_shard(driver, mine, number, kind, key)
        kept = (r for r, stat in leaf.stats.items() if key in driver.wanted.keys(r, stat.arity))
        leaf.add(key, frozenset(kept), written)
    return leaf


def tally_of(driver: Driver, found: Found) -> TallyNode:
    """What came back as a tally."""
    if all(r.written is None for _, r in found):
        rows = [rows for _, r in found for rows in Piece.of_bytes(r.rows).all_rows()]
        if sum(map(len, rows)) <= driver.small:
            return TallyHeld(
                LocalTally.sum(driver.dictionary, (_counted(driver.dictionary, r) for r in rows)), driver.scratch
            )
    return TallyLeaf(by_shard(driver, found, 0, "all", 0))


def _counted(dictionary: Dictionary, rows: Rows) -> LocalTally:
    assert rows.weight is not None
    counts = RowCounts.of_run(WeightedRun(Run(rows.layout, rows.rows), rows.weight))
    return LocalTally(dictionary, {rows.relation: counts})


def by_shard(driver: Driver, found: Found, number: int, kind: str, key: int) -> list[Written | None]:
    """The files of a result; the driver writes what came back as rows."""
    files: list[Written | None] = [None] * driver.shards
    for shard, r in found:
        if (r.result, r.kind, r.key) == (number, kind, key):
            rows = [] if r.written else [rows for rows in Piece.of_bytes(r.rows).all_rows() if len(rows)]
            files[shard] = r.written or (shard_files.write(driver.scratch, rows, key) if rows else None)
    return files


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
        return [shard_files.write(self.scratch, parts, key) if parts else None for parts in homes]

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
            run = partial(tasks.scatter, path, todo), partial(tasks.keep, path, todo)
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
                lambda path: [Stage(partial(tasks.evaluate, path, node.id, keys), self.shards)], (node,)
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
        found, _ = self.run(lambda path: [Stage(partial(tasks.evaluate_tally, path, node.id), self.shards)], (node,))
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
    worker_cache.close(name)
    shipped.close()


def within(reader: Reader, node: Node, facts: LocalFacts) -> LocalFacts:
    """Those of some facts that are in a set."""
    return _Lookup(reader, facts).within(node)


def counts_of(reader: Reader, node: TallyNode, facts: LocalFacts) -> LocalTally:
    """The counts of some facts."""
    return _Lookup(reader, facts).counts(node)


def whole_tally(reader: Reader, node: TallyNode) -> LocalTally:
    """All of a tally."""
    node = node.now()
    if isinstance(node, TallyHeld):
        return node.tally
    shards = (reader.tally(node.id, EVERYTHING, shard) for shard in range(reader.shards))
    return LocalTally.sum(reader.dictionary, shards)


class _Lookup:
    """The same facts in every part of an expression; a part that is used twice is asked once."""

    def __init__(self, reader: Reader, facts: LocalFacts) -> None:
        self.reader, self.facts = reader, facts
        self._within: dict[int, LocalFacts] = {}
        self._counts: dict[int, LocalTally] = {}

    def within(self, node: Node) -> LocalFacts:
        node = node.now()
        if node.id not in self._within:
            self._within[node.id] = self._found(node)
        return self._within[node.id]

    def _found(self, node: Node) -> LocalFacts:
        if isinstance(node, Held):
            return self.facts & node.facts
        if isinstance(node, Op):
            left, right = self.within(node.left), self.within(node.right)
            return left | right if node.op == "|" else left - right if node.op == "-" else left & right
        if isinstance(node, Only):
            return self.within(node.source).of_predicate(node.predicate)
        if isinstance(node, Positive):
            return self.counts(node.tally).facts()
        assert isinstance(node, Leaf)
        found = (here & self.reader.facts(node.id, 0, part, shard) for shard, part, here in self._at_home(self.facts))
        return reduce(or_, found, LocalFacts(self.reader.dictionary, {}))

    def _at_home(self, facts: LocalFacts) -> Iterator[tuple[int, Part, LocalFacts]]:
        """The facts by relation and home."""
        for rows in rows_of(facts):
            for shard, there in split(rows, 0, self.reader.shards):
                yield shard, Part.of(rows.relation), self.reader.of_rows([there])

    def counts(self, node: TallyNode) -> LocalTally:
        node = node.now()
        if node.id not in self._counts:
            self._counts[node.id] = self._counted(node)
        return self._counts[node.id]

    def _counted(self, node: TallyNode) -> LocalTally:
        if isinstance(node, TallyHeld):
            return node.tally.counts_of(self.facts)
        if isinstance(node, Sum):
            left, right = self.counts(node.left), self.counts(node.right)
            return left + right if node.op == "+" else left - right
        if isinstance(node, Of):
            tally, some = node.made_of
            return self.counts(tally).counts_of(self.within(some))
        if isinstance(node, Once):
            return LocalTally.once(self.within(node.facts))
        assert isinstance(node, TallyLeaf)
        homes = self._at_home(self.facts)
        parts = [self.reader.tally(node.id, part, shard).counts_of(here) for shard, part, here in homes]
        return LocalTally.sum(self.reader.dictionary, parts)
