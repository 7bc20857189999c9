"""Asking: queries, facts, and what there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tidelog.changes.choose import choose_engine
from tidelog.changes.constraints import Inconsistency, inconsistencies
from tidelog.errors import UsageError
from tidelog.knowledge_base.session import Session
from tidelog.knowledge_base.snapshot import Snapshot
from tidelog.model.addresses import output_path
from tidelog.model.terms import TRIPLE, is_helper
from tidelog.queries.answers import Answers, FactAnswers, rows_among
from tidelog.queries.datalog import Kind, ask, check_kind
from tidelog.queries.export import Exported, export
from tidelog.queries.status import Status, status
from tidelog.settings import Limits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from rdflib import Graph

    from tidelog.engines.spark.dataframes.exporting import ExportSource
    from tidelog.queries.sparql import Dataset, Solutions


class Questions(Session):
    """What can be asked. Nothing here changes anything."""

    def query(
        self,
        text: str,
        kind: Kind = "all",
        *,
        timeout: float | None = None,
        max_rows: int | None = None,
        max_memory: int | None = None,
    ) -> Answers:
        """All distinct values of the query's variables, in order of their first appearance.

        `kind` "explicit" asks for answers that explicit facts alone give, "derived" for the others. A query that takes
        more than `timeout` seconds, has more than `max_rows` answers or needs more than `max_memory` bytes is stopped.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="age(ann, 42) . age(bob, 7) .")
        >>> list(kb.query("age(?x, ?n), ?n < 18"))
        [('bob', 7)]
        """
        now = self._now()
        return ask(now.engine, now.state, text, kind, Limits(timeout, max_rows, max_memory))

    def sparql(
        self,
        text: str,
        kind: Kind = "all",
        *,
        timeout: float | None = None,
        max_rows: int | None = None,
        max_memory: int | None = None,
    ) -> Solutions | bool | Graph:
        """The answer to a SPARQL 1.1 query over the triples: rows for SELECT, a truth value for ASK, else a graph.

        `kind` "explicit" or "derived" asks of those triples alone. A query that takes more than `timeout` seconds, has
        more than `max_rows` rows or needs more than `max_memory` bytes is stopped.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="[ann, age, 42] . [bob, age, 7] .")
        >>> list(kb.sparql("SELECT ?who { ?who <age> ?n FILTER (?n < 18) }")), kb.sparql("ASK { ?x <age> 7 }")
        ([('bob',)], True)
        """
        from tidelog.queries.sparql import evaluate

        now = self._now()
        found = evaluate(_dataset(now, kind), text, Limits(timeout, max_rows, max_memory))
        if not isinstance(found, Answers):
            return found
        return found.with_marks(lambda: rows_among(found, cast(Answers, evaluate(_dataset(now, "explicit"), text))))

    def facts(self, predicate: str, kind: Kind = "all") -> Answers:
        """The facts of one predicate: all, only the explicit ones, or only those that are derived and not explicit.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) . q(a) . q(b) .", add_rules="q(?x) :- p(?x) . q(c) :- p(?x) .")
        >>> sorted(kb.facts("q")), sorted(kb.facts("q", kind="derived"))
        ([('a',), ('b',), ('c',)], [('c',)])
        """
        now = self._now()
        name = now.state.expand(predicate)
        return now.answers(now.of_kind(kind, name), name)

    def all_facts(self, kind: Kind = "all") -> FactAnswers:
        """The facts of every predicate but the helper relations of rule sets, as rows `(predicate, argument, …)`.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
        >>> sorted(kb.all_facts("derived"))
        [('q', 'a')]
        """
        now = self._now()
        return FactAnswers(now.of_kind(kind), now.state.E)

    def inconsistencies(self, limit: int | None = None) -> list[Inconsistency]:
        """The matches of constraints that are reported, not refused: `#[report]`, as in OWL 2 RL; `limit` of each.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="parent(ann, ann) .", add_rules='#[name("own parent")] #[report] :- parent(?x, ?x) .')
        >>> [(i.name, i.facts) for i in kb.inconsistencies()]
        [('own parent', [('parent', 'ann', 'ann')])]
        """
        now = self._now()
        rules = now.equality.rules(now.engine, now.state.program.after, now.state.I)
        return inconsistencies(now.engine, rules, now.state.I, limit)

    def export(
        self,
        out: str | Path,
        format: str | None = None,
        kind: Kind = "all",
        *,
        relations: Iterable[str] | None = None,
        overwrite: bool = False,
        partition_by: Sequence[str] = (),
        header: bool = False,
        engine: str = "auto",
        master: str | None = None,
    ) -> list[Exported]:
        """Write facts to files: "nt", "nq", "ttl", "trig", "rdf", "jsonld" the triples, "csv", "tsv", "parquet" all.

        The format may be told by the name of `out`. Several relations become a folder with one file each; "delta" makes
        a Delta table of each, `partition_by` columns. With `header`, CSV and TSV start with the names of the columns.
        With `engine="spark"` (or `master`) executors write parts of N-Triples, N-Quads, CSV,
        TSV, Parquet and Delta, see docs/spark-data.md.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) . q(b, 1) .")
        >>> [(w.predicate, w.facts) for w in kb.export(tempfile.mkdtemp() + "/out", format="csv")]
        [('p', 1), ('q', 1)]
        """
        now, target = self._now(), output_path(out)
        if choose_engine(engine, 0, 0, master).engine == "spark":
            from tidelog.engines.spark.dataframes import exporting

            source, few = self._export_source(now, kind), None if relations is None else list(relations)
            with exporting.spark_cluster(master) as cluster:
                return exporting.export(
                    cluster, source, few, target, format, overwrite=overwrite, partition_by=partition_by
                )
        facts = now.of_kind(kind)
        chosen = (
            filterfalse(is_helper, facts.predicates()) if relations is None else set(map(now.state.known, relations))
        )
        answers = {p: now.answers(facts, p) for p in sorted(chosen)}
        return export(
            answers,
            target,
            format,
            overwrite=overwrite,
            partition_by=partition_by,
            prefixes=now.state.prefixes,
            header=header,
        )

    def _export_source(self, now: Snapshot, kind: Kind) -> ExportSource:
        """What executors export."""
        from tidelog.engines.spark.dataframes.exporting import ExportSource

        check_kind(kind)
        if self._root is None:
            raise UsageError('executors read from disk, and this is in memory; open one with a path: open("x.kb")')
        return ExportSource(str(self._root.absolute()), now.state.version, kind)

    def to_spark(self, spark: SparkSession, predicate: str, kind: Kind = "all") -> DataFrame:
        """The facts of one predicate as a DataFrame of the session; of a knowledge base on disk, executors read them.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="age(ann, 42) .")
        >>> class Session:  # stands for a SparkSession
        ...     createDataFrame = staticmethod(lambda table: table)
        >>> kb.to_spark(Session(), "age").schema.types
        [DataType(string), DataType(int64)]
        """
        now = self._now()
        name = now.state.known(predicate)
        facts = now.of_kind(kind, name)
        if self._root is None:
            return cast("DataFrame", now.answers(facts, name).to_spark(spark))
        from tidelog.engines.spark.dataframes.frames import relation

        return relation(spark, self._root, now.state, facts, name, kind)

    def to_rdflib(self, kind: Kind = "all") -> Graph:
        """The triples as an rdflib Graph in memory, which knows the prefixes; a copy that later changes do not reach.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="[ann, knows, bob] . p(a) .", add_rules="[?y, knows, ?x] :- [?x, knows, ?y] .")
        >>> len(kb.to_rdflib()), len(kb.to_rdflib("explicit"))
        (2, 1)
        """
        from tidelog.formats.rdflib_terms import to_graph

        now = self._now()
        return to_graph(now.answers(now.of_kind(kind, TRIPLE), TRIPLE).term_blocks(), now.state.prefixes)

    def status(self) -> Status:
        """Version, digest, and how many facts there are of which relation.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) .")
        >>> kb.status().version, kb.status().explicit
        (1, 1)
        """
        now = self._now()
        return status(now.state, now.of_kind("all"), self._store)

    def digest(self) -> str:
        """32 hexadecimal digits; equal for knowledge bases with equal facts (explicit and all) and rules.

        >>> import tidelog
        >>> one, other = tidelog.open(), tidelog.open()
        >>> _ = one.apply(add="p(a) . p(b) ."), other.apply(add="p(b) ."), other.apply(add="p(a) .")
        >>> one.digest() == other.digest()
        True
        """
        return self._now().state.digest()


def _dataset(now: Snapshot, kind: Kind) -> Dataset:
    from tidelog.queries.sparql import Dataset

    return Dataset(now.engine, now.triples(kind), now.state.prefixes)
