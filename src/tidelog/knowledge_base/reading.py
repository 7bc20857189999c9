"""Asking: queries, facts, and what there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tidelog.algorithms.equality.policy import MODES, OFF
from tidelog.changes.choose import choose_engine
from tidelog.changes.constraints import Inconsistency, inconsistencies
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import UsageError
from tidelog.knowledge_base.session import Session
from tidelog.model.terms import TRIPLE, column_names, is_helper
from tidelog.queries.answers import Answers, FactAnswers, marks, rows_among
from tidelog.queries.datalog import Kind, ask, check_kind
from tidelog.queries.export import Exported, export
from tidelog.queries.status import Status, status
from tidelog.settings import Limits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from rdflib import Graph

    from tidelog.queries.sparql import Solutions


class Questions(Session):
    """What can be asked. Nothing here changes anything."""

    _named: tuple[LocalFacts, LocalFacts] | None = None  # the facts under all names, and of which they were made

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
        return ask(self._engine, self._state, text, kind, Limits(timeout, max_rows, max_memory))

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
        from tidelog.queries.sparql import Dataset, evaluate

        source = Dataset(self._engine, self._triples(kind), self.prefixes)
        found = evaluate(source, text, Limits(timeout, max_rows, max_memory))
        if not isinstance(found, Answers):
            return found
        explicit = Dataset(self._engine, self._triples("explicit"), self.prefixes)
        return found.with_marks(lambda: rows_among(found, cast(Answers, evaluate(explicit, text))))

    def _triples(self, kind: Kind) -> LocalFacts:
        """The facts that SPARQL sees: under all names, if one stands for others."""
        if kind == "explicit":
            return self._state.E
        if kind != "all" or self._equality is MODES[OFF]:
            return self._state.I if kind == "all" else self._of_kind(kind, TRIPLE)
        I = self._state.I
        if self._named is None or self._named[0] is not I:
            self._named = I, self._of_kind(kind, TRIPLE)
        return self._named[1]

    def facts(self, predicate: str, kind: Kind = "all") -> Answers:
        """The facts of one predicate: all, only the explicit ones, or only those that are derived and not explicit.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) . q(a) . q(b) .", add_rules="q(?x) :- p(?x) . q(c) :- p(?x) .")
        >>> sorted(kb.facts("q")), sorted(kb.facts("q", kind="derived"))
        ([('a',), ('b',), ('c',)], [('c',)])
        """
        name = self._expand(predicate)
        return self._answers(self._of_kind(kind, name), name)

    def _answers(self, facts: LocalFacts, name: str) -> Answers:
        arity = facts.arities().get(name) or self._state.arities.get(name, 0)
        names, length, E = column_names(name, arity), facts.predicates().get(name, 0), self._state.E
        asserted = partial(marks, facts.of_predicate(name), E)
        return Answers(names, lambda: facts.columns(name), length, self._engine.dictionary, asserted)

    def all_facts(self, kind: Kind = "all") -> FactAnswers:
        """The facts of every predicate but the helper relations of rule sets, as rows `(predicate, argument, …)`.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
        >>> sorted(kb.all_facts("derived"))
        [('q', 'a')]
        """
        return FactAnswers(self._of_kind(kind), self._state.E)

    def inconsistencies(self, limit: int | None = None) -> list[Inconsistency]:
        """The matches of constraints that are reported, not refused: `#[report]`, as in OWL 2 RL; `limit` of each.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="parent(ann, ann) .", add_rules='#[name("own parent")] #[report] :- parent(?x, ?x) .')
        >>> [(i.name, i.facts) for i in kb.inconsistencies()]
        [('own parent', [('parent', 'ann', 'ann')])]
        """
        rules = self._equality.rules(self._engine, self.rules, self._state.I)
        return inconsistencies(self._engine, rules, self._state.I, limit)

    def export(
        self,
        out: str | Path,
        format: str | None = None,
        kind: Kind = "all",
        *,
        relations: Iterable[str] | None = None,
        overwrite: bool = False,
        partition_by: Sequence[str] = (),
        engine: str = "auto",
        master: str | None = None,
    ) -> list[Exported]:
        """Write facts to files: "nt", "nq", "ttl", "trig", "rdf", "jsonld" the triples, "csv", "tsv", "parquet" all.

        The format may be told by the name of `out`. Several relations become a folder with one file each; "delta" makes
        a Delta table of each, `partition_by` columns. With `engine="spark"` (or `master`) executors write parts of
        N-Triples, N-Quads, CSV, TSV, Parquet and Delta, see docs/spark-data.md.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) . q(b, 1) .")
        >>> [(w.predicate, w.facts) for w in kb.export(tempfile.mkdtemp() + "/out", format="csv")]
        [('p', 1), ('q', 1)]
        """
        if choose_engine(engine, 0, 0, master).engine == "spark":
            return self._export_on_spark(kind, relations, Path(out), format, overwrite, partition_by, master)
        facts = self._of_kind(kind)
        chosen = (
            filterfalse(is_helper, facts.predicates()) if relations is None else set(map(self._state.known, relations))
        )
        answers = {p: self._answers(facts, p) for p in sorted(chosen)}
        return export(
            answers, Path(out), format, overwrite=overwrite, partition_by=partition_by, prefixes=self.prefixes
        )

    def _export_on_spark(
        self,
        kind: Kind,
        relations: Iterable[str] | None,
        out: Path,
        format: str | None,
        overwrite: bool,
        partition_by: Sequence[str],
        master: str | None,
    ) -> list[Exported]:
        from tidelog.engines.spark.dataframes.exporting import ExportSource, export, spark_cluster

        check_kind(kind)
        if self._root is None:
            raise UsageError('executors read from disk, and this is in memory; open one with a path: open("x.kb")')
        source = ExportSource(str(self._root.absolute()), self.version, kind)
        chosen = None if relations is None else list(relations)
        with spark_cluster(master) as cluster:
            return export(cluster, source, chosen, out, format, overwrite=overwrite, partition_by=partition_by)

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
        name = self._state.known(predicate)
        if self._root is None:
            return cast("DataFrame", self.facts(name, kind).to_spark(spark))
        from tidelog.engines.spark.dataframes.frames import relation

        return relation(spark, self._root, self.version, self._of_kind(kind, name), name, kind)

    def to_rdflib(self, kind: Kind = "all") -> Graph:
        """The triples as an rdflib Graph in memory, which knows the prefixes; a copy that later changes do not reach.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="[ann, knows, bob] . p(a) .", add_rules="[?y, knows, ?x] :- [?x, knows, ?y] .")
        >>> len(kb.to_rdflib()), len(kb.to_rdflib("explicit"))
        (2, 1)
        """
        from tidelog.formats.rdflib_terms import to_graph

        return to_graph(self._answers(self._of_kind(kind, TRIPLE), TRIPLE).term_blocks(), self.prefixes)

    def status(self) -> Status:
        """Version, digest, and how many facts there are of which relation.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) .")
        >>> kb.status().version, kb.status().explicit
        (1, 1)
        """
        return status(self._state, self._of_kind("all"), self._store)

    def digest(self) -> str:
        """32 hexadecimal digits; equal for knowledge bases with equal facts (explicit and all) and rules.

        >>> import tidelog
        >>> one, other = tidelog.open(), tidelog.open()
        >>> _ = one.apply(add="p(a) . p(b) ."), other.apply(add="p(b) ."), other.apply(add="p(a) .")
        >>> one.digest() == other.digest()
        True
        """
        return self._state.digest()
