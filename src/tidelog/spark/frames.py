"""Relations of a knowledge base on disk as DataFrames, with numbers as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.engines.local.fact_set import LocalFacts
from tidelog.errors import UsageError
from tidelog.model.facts import column_names
from tidelog.queries import Kind
from tidelog.spark import NAME, register
from tidelog.spark.columns import types

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_UNKNOWN = "DATA_SOURCE_NOT_FOUND"  # what Spark says of a source that it did not find by itself


def relation(spark: SparkSession, root: Path, version: int, facts: LocalFacts, name: str, kind: Kind) -> DataFrame:
    """The facts of a relation, which `facts` are, read by executors; columns of one type keep it."""
    arity = facts.arities().get(name, 0)
    if not arity:
        raise UsageError(f"{name} has no facts with arguments, and so no columns")
    columns = ", ".join(f"`{c}` {t}" for c, t in zip(column_names(name, arity), types(facts, arity), strict=True))
    options = {"relation": f"<{name}>", "kind": kind, "asOf": str(version), "path": str(root.absolute())}
    try:
        return _read(spark, columns, options)
    except Exception as error:  # of several kinds, by the kind of session
        if _UNKNOWN not in str(error):
            raise
    register(spark)
    return _read(spark, columns, options)


def _read(spark: SparkSession, columns: str, options: Mapping[str, str]) -> DataFrame:
    frame = spark.read.format(NAME).schema(columns).options(**options).load()
    assert frame.schema  # asks a Connect server whether it knows the source
    return frame
