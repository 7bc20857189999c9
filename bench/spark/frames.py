"""The loop one would write by hand: semi-naive evaluation over Spark DataFrames, as a peer for the Spark engine.

    new = the heads of all joins with at least one atom in what was new, without duplicates, anti-joined with all
    all = all union new                       checkpointed in each round, or plans grow without end

Triples are given as numbers already, so that only the loop is measured. It prints a line of JSON for each round, so
that one who stops it after ten minutes still knows how far it came.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

import tidelog
from tidelog.engines.spark.cluster.session import new_session
from tidelog.model.terms import TRIPLE
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.syntax import Atom, Rule, Variable

COLUMNS = ("s", "p", "o")
# What a careful user would set: few partitions for small joins, and no plans that are changed while they run. This loop
# is at home in the JVM, which may take its time to compile.
SETTINGS = {
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=4",
}


def write_triples(kb: tidelog.KnowledgeBase, program: Path, folder: Path) -> None:
    """The explicit triples as a Parquet file of ids, the rules, and the ids of the terms in them."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rules = parse_rules(program.read_text(), str(program))
    columns = kb._state.E.columns(TRIPLE)
    table = pa.table([pa.array(c, pa.int32()) for c in columns], names=list(COLUMNS))
    parquet.write_table(table, folder / "triples.parquet", row_group_size=1 << 20)
    terms = {t for r in rules for a in (*r.heads, *r.atoms) for t in a.args if not isinstance(t, Variable)}
    ids = {str(t): kb._engine.dictionary.encode(t) for t in terms}  # type: ignore[arg-type]
    (folder / "rules.json").write_text(json.dumps({"ids": ids, "rules": [str(r) for r in rules]}))


def closure(spark: SparkSession, folder: Path) -> Iterator[dict[str, object]]:
    """What each round added, and the seconds so far."""
    given = json.loads((folder / "rules.json").read_text())
    rules = parse_rules("\n".join(given["rules"]), "the rules")
    everything = _kept(spark.read.parquet(str(folder / "triples.parquet")))
    new, known = everything, everything.limit(0)
    start, facts = time.perf_counter(), everything.count()
    while True:
        heads = [h for rule in rules for h in _heads(rule, known, new, everything, given["ids"])]
        derived = reduce(DataFrame.union, heads).distinct()
        fresh = _kept(derived.join(everything, list(COLUMNS), "left_anti"))
        added = fresh.count()
        facts += added
        yield {"added": added, "facts": facts, "seconds": time.perf_counter() - start}
        if not added:
            return
        known, new, everything = everything, fresh, _kept(everything.union(fresh))


def _kept(frame: DataFrame) -> DataFrame:
    return frame.localCheckpoint(eager=True)


def _heads(
    rule: Rule, known: DataFrame, new: DataFrame, everything: DataFrame, ids: dict[str, int]
) -> Iterator[DataFrame]:
    """The heads of a rule with each atom in what is new, those before it in what was known, those after it in all."""
    for pivot in range(len(rule.atoms)):
        sources = [known if i < pivot else new if i == pivot else everything for i in range(len(rule.atoms))]
        matched = [_matches(atom, source, ids) for atom, source in zip(rule.atoms, sources, strict=True)]
        joined = reduce(_join, matched)
        for head in rule.heads:
            yield joined.select(*(_term(t, ids).alias(c) for t, c in zip(head.args, COLUMNS, strict=True)))


def _matches(atom: Atom, triples: DataFrame, ids: dict[str, int]) -> DataFrame:
    """The values of the variables of an atom."""
    where, variables = f.lit(True), dict[str, str]()
    for term, column in zip(atom.args, COLUMNS, strict=True):
        if not isinstance(term, Variable):
            where &= f.col(column) == ids[str(term)]
        elif term.name in variables:
            where &= f.col(column) == f.col(variables[term.name])
        else:
            variables[term.name] = column
    return triples.where(where).select(*(f.col(c).alias(v) for v, c in variables.items()))


def _join(left: DataFrame, right: DataFrame) -> DataFrame:
    shared = [c for c in left.columns if c in right.columns]
    return left.join(right, shared) if shared else left.crossJoin(right)


def _term(term: object, ids: dict[str, int]) -> Column:
    return f.col(term.name) if isinstance(term, Variable) else f.lit(ids[str(term)])


def main(folder: Path, master: str) -> None:
    spark = new_session(master, SETTINGS)
    try:
        for found in closure(spark, folder):
            print(json.dumps(found), flush=True)
    finally:
        spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
