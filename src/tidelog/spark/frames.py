"""Relations of a knowledge base on disk as DataFrames, with numbers as numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from tidelog.engines.local.fact_set import LocalFacts
from tidelog.errors import UsageError
from tidelog.model.facts import column_names
from tidelog.queries import Kind
from tidelog.spark import register
from tidelog.spark.columns import types

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_registered: WeakSet[SparkSession] = WeakSet()


def relation(spark: SparkSession, root: Path, version: int, facts: LocalFacts, name: str, kind: Kind) -> DataFrame:
    """The facts of a relation, which `facts` are, read by executors; columns of one type keep it."""
    from tidelog.spark.datasource import NAME

    arity = facts.arities().get(name, 0)
    if not arity:
        raise UsageError(f"{name} has no facts with arguments, and so no columns")
    if spark not in _registered:
        register(spark)
        _registered.add(spark)
    columns = ", ".join(f"`{c}` {t}" for c, t in zip(column_names(name, arity), types(facts, arity), strict=True))
    reader = spark.read.format(NAME).schema(columns)
    return reader.options(relation=f"<{name}>", kind=kind, asOf=version).load(str(root.absolute()))
