"""Rule instances found by joins over shards are those that are found here.

The tasks run in this process, with everything in files; that executors make the DataFrame is tested at the end.
"""

from __future__ import annotations

import pickle
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import tidelog
from tests.explain.worlds import random_world
from tidelog.changes import spark_backend
from tidelog.changes.spark_backend import SparkBackend
from tidelog.engines.spark.cluster.cluster import InProcess
from tidelog.engines.spark.dataframes.instances import InstanceRows
from tidelog.engines.spark.sharded.engine import SparkEngine
from tidelog.errors import UsageError
from tidelog.explain.bulk import unified
from tidelog.knowledge_base import KnowledgeBase
from tidelog.rules.parsing.parser import parse_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARDS = 3


@pytest.fixture
def everything_in_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        spark_backend, "SparkEngine", lambda cluster, d, scratch: SparkEngine(cluster, d, scratch, SHARDS, 0)
    )


def in_process(kb: KnowledgeBase) -> KnowledgeBase:
    kb._spark_backend = SparkBackend(kb._engine, kb._store, cluster=InProcess(2))
    return kb


class Session:
    """What the session of a DataFrame is asked for: tasks that are pickled and given numbers of shards."""

    def range(self, start: int, end: int, step: int, partitions: int) -> Session:
        assert (start, end, step, partitions) == (0, SHARDS, 1, SHARDS)
        return self

    def mapInArrow(self, rows: InstanceRows, schema: str) -> Any:  # noqa: N802
        task = pickle.loads(pickle.dumps(rows))
        given = [pa.record_batch([pa.array([shard])], ["id"]) for shard in range(SHARDS)]
        batches = [batch for numbers in given for batch in task(iter([numbers]))]
        assert all(batch.num_rows for batch in batches)
        return batches


def counted(rows: Any) -> Counter[str]:
    return Counter(map(repr, rows))


def same_both_ways(kb: KnowledgeBase, pattern: str, **options: Any) -> int:
    """Compare with the local table what is gathered, and what executors make of files; how many rows there are."""
    local = kb.explain_all(pattern, **options, engine="local")
    table = kb.explain_all(pattern, **options, engine="spark")
    assert counted(table) == counted(local)
    assert len(table) == len(local)
    batches = kb.explain_all(pattern, **options, spark=Session())
    rows = (tuple(row.values()) for batch in batches for row in batch.to_pylist())
    assert counted(rows) == counted(local)
    return len(local)


PROGRAMS = [
    (
        "e(a, b) . e(b, c) . e(c, a) . r(a, c) .",
        'r(?x, ?y) :- e(?x, ?y) . #[name("far")] r(?x, ?z) :- r(?x, ?y), e(?y, ?z) .',
        "r(?x, ?y)",
        1 + 3 + 9,
        1 + 3 + 9 + 3,
    ),
    (
        "hot(a) . hot(b) . hot(c) . off(b) . load(a, 3) . load(b, 9) . load(c, 11) .",
        "alert(?x) :- hot(?x), ~off(?x), load(?x, ?n), ?n > 4 .",
        "alert(?x)",
        1,
        3,
    ),
    (
        """[ann, rdf:type, Student] . [bob, rdf:type, Student] . [bob, knows, ann] .
           [Student, rdfs:subClassOf, Person] .""",
        """[?x, rdf:type, ?d] :- [?x, rdf:type, ?c], [?c, rdfs:subClassOf, ?d] .
           [?x, knownBy, ?y] :- [?y, knows, ?x] . [?x, ?p, ?x] :- [?x, knows, ?y], [?y, ?p, ?z] .""",
        "[?x, ?p, ?y]",
        None,
        None,
    ),
    (
        "on() . p(a) . p(b) . q(c) .",
        "s(a) :- p(b) . s(?x) :- p(?x), on() . s(d) :- . t() :- s(d), q(c) . t() :- t() .",
        "t()",
        2,
        2 + 1 + 1,
    ),
    ("on() . p(a) . p(b) .", "s(a) :- p(b) . s(?x) :- p(?x), on() . s(d) :- .", "s(?x)", 4, 4 + 3),
    (
        "e(a, a) . e(a, b) . e(b, c) .",
        "s(?x, ?y), s(?y, ?x), v(?x), s(a, ?x) :- e(?x, ?y) . w(?x) :- s(?x, ?y), v(?y) .",
        "w(?x)",
        None,
        None,
    ),
    (
        "score(a, x, 3) . score(a, y, 4) . score(b, z, 7) . bonus(a, 4) . bonus(b, 2) . total(c, 7) .",
        "total(?t, #sum(?n, ?g)) :- score(?t, ?g, ?n) . total(?t, ?m) :- bonus(?t, ?n), ?m = ?n + 5 .",
        "total(?t, ?n)",
        1 + 3 + 2,
        None,
    ),
    ("p(a, a, b, c, d) .", "q(?v, ?z, ?x) :- p(?x, ?x, ?y, ?z, ?v) .", "q(?x, ?y, a)", 1, 2),
    ("p(a) .", "q(?x) :- p(?x) .", "nothing(?x)", 0, 0),
    ("p(a) .", "q(?x) :- p(?x) .", "q(z)", 0, 0),
]


@pytest.mark.usefixtures("everything_in_shards")
@pytest.mark.parametrize(("facts", "rules", "pattern", "shallow", "deep"), PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs(facts: str, rules: str, pattern: str, shallow: int | None, deep: int | None) -> None:
    with in_process(tidelog.open()) as kb:
        kb.apply(add=facts, add_rules=rules)
        for options, rows in (({}, shallow), ({"depth": 2}, None), ({"deep": True}, deep)):
            found = same_both_ways(kb, pattern, **options)
            assert rows is None or found == rows
        assert kb._spark_backend is not None and (kb._spark_backend._cluster.jobs or not found)


@pytest.mark.usefixtures("everything_in_shards")
@pytest.mark.parametrize("seed", range(4))
def test_random_programs(seed: int) -> None:
    with random_world(seed) as (kb, naive, _):
        in_process(kb)
        for predicate, arity in sorted({(f.predicate, len(f.args)) for f in naive.I}):
            pattern = f"<{predicate}>({', '.join(f'?x{i}' for i in range(arity))})"
            same_both_ways(kb, pattern, deep=True)


@pytest.mark.usefixtures("everything_in_shards")
def test_equality_by_rewriting() -> None:
    with in_process(tidelog.open(equality="rewriting")) as kb:
        kb.apply(
            add="[ann, owl:sameAs, anna] . [anna, <knows>, bob] . [bob, owl:sameAs, rob] . [ann, <knows>, rob] .",
            add_rules="[?y, <knownBy>, ?x] :- [?x, <knows>, ?y] .",
        )
        assert same_both_ways(kb, "[?x, knownBy, anna]", deep=True) > 1


@pytest.mark.usefixtures("everything_in_shards")
def test_after_a_change() -> None:
    """The shards are those of the newest version, and an earlier DataFrame shows what it was made of."""
    with in_process(tidelog.open()) as kb:
        kb.apply(add="p(a) . p(b) .", add_rules="q(?x) :- p(?x) .")
        before = kb.explain_all("q(?x)", engine="spark")
        rows = before.rows()
        kb.apply(add="p(new) .", remove="p(a) .")
        assert same_both_ways(kb, "q(?x)", deep=True) == 4
        texts = [row["fact"] for shard in range(SHARDS) for batch in rows.of(shard) for row in batch.to_pylist()]
        assert sorted(texts) == ["q(a)", "q(b)"]


@pytest.mark.usefixtures("everything_in_shards")
def test_nothing_is_left_after_it_is_closed() -> None:
    with in_process(tidelog.open()) as kb:
        kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
        rows = kb.explain_all("q(?x)", engine="spark").rows()
    with pytest.raises(UsageError, match="until the knowledge base is closed"):
        [batch for shard in range(SHARDS) for batch in rows.of(shard)]


@pytest.mark.usefixtures("everything_in_shards")
def test_what_a_data_frame_reads_is_kept() -> None:
    """Its files stay, though nobody here holds the sets they belong to."""
    read: list[InstanceRows] = []

    class Lazy(Session):
        def mapInArrow(self, rows: InstanceRows, schema: str) -> Any:  # noqa: N802
            read.append(rows)

    with in_process(tidelog.open()) as kb:
        kb.apply(add="p(a) . p(b) .", add_rules="q(?x) :- p(?x) .")
        kb.explain_all("q(?x)", deep=True, spark=Lazy())
        assert sum(batch.num_rows for shard in range(SHARDS) for batch in read[0].of(shard)) == 4


UNIFIED = [
    ("s(?x, ?y), s(?y, ?x)", ["x"]),
    ("s(?x, a), s(b, ?y)", ["x", "y"]),
    ("s(?x, ?x), s(a, b)", None),
    ("s(?x, ?y, ?x), s(?y, ?x, a)", ["x", "y"]),
    ("s(?x), t(?x)", None),
    ("s(?x), s(?x, ?x)", None),
    ("s(a), s(a)", []),
]


@pytest.mark.parametrize(("heads", "variables"), UNIFIED)
def test_when_two_heads_are_one_fact(heads: str, variables: list[str] | None) -> None:
    ((one, other),) = (rule.heads for rule in parse_rules(f"{heads} :- e(?x, ?y) ."))
    same = unified(one, other)
    assert (None if same is None else sorted(v.name for v in same)) == variables


def test_unknown_engines() -> None:
    with tidelog.open() as kb, pytest.raises(UsageError, match="auto, local, spark"):
        kb.explain_all("p(?x)", engine="quantum")


@pytest.mark.parametrize("small", [0, None])
def test_instances_as_a_data_frame(spark: SparkSession, small: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if small is not None:
        monkeypatch.setattr(
            spark_backend, "SparkEngine", lambda cluster, d, scratch: SparkEngine(cluster, d, scratch, 2, small)
        )
    with tidelog.open() as kb:
        kb.apply(
            add={"hot": [(i,) for i in range(500)]},
            add_rules='alert(?x) :- hot(?x), ?x > 9 . #[name("all")] seen(?x) :- hot(?x) .',
        )
        frame = kb.explain_all("alert(?x)", deep=True, spark=spark)
        assert frame.schema.simpleString() == "struct<fact:string,kind:string,rule:int,name:string,body:array<string>>"
        rows = [tuple(row) for row in frame.collect()]
        assert counted(rows) == counted(kb.explain_all("alert(?x)", deep=True))
        assert len(rows) == 490 * 2
        assert frame.filter("kind = 'explicit' and size(body) = 0").count() == 490
