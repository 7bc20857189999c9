"""`spark.read.format("tidelog")`: a relation of a knowledge base as a DataFrame, read by all executors at once.

Executors open the directory themselves, so it has to be where all of them reach it. The version is decided when the
DataFrame is made. See docs/spark-data.md for the options.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, EqualTo, InputPartition
from pyspark.sql.types import BooleanType, DataType, StringType, StructField, StructType

from tidelog.errors import UsageError
from tidelog.export import column_names
from tidelog.model.terms import Term, iri, plain
from tidelog.model.vocabulary import TRIPLE
from tidelog.queries import Kind
from tidelog.spark.columns import EXACT, FORMS, PLAIN, TYPES, column
from tidelog.spark.slices import Rows, Slice, rows, slices
from tidelog.spark.view import Shown, View, view

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

NAME = "tidelog"
EXPLICIT, CHANGE = "explicit", "change"
_ROWS = 250_000  # of one partition
_KNOWN = (
    "path", "relation", "kind", "asOf", "changesSince", "terms", "columns", "predicate", "partitions", "pushdown",
)  # fmt: skip
