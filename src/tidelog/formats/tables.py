"""Tables that a user holds: pandas and Spark DataFrames, Arrow tables, Delta tables. What their columns are called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from tidelog.errors import UsageError
from tidelog.formats.delta_tables import DeltaReading
from tidelog.model.vocabulary import TRIPLE

KINDS = ("pandas", "pyarrow", "pyspark", "deltalake")
_TRIPLES = (("subject", "predicate", "object"), ("s", "p", "o"))


def table_kind(value: object) -> str | None:
    """Which library's table this is, if it is one; no library is imported to find out."""
    library = type(value).__module__.partition(".")[0]
    is_table = hasattr(value, "columns") if library in ("pandas", "pyspark") else hasattr(value, "schema")
    return library if library in KINDS and is_table else None


def _names_of(library: str, table: Any) -> Iterable[Any]:
    if library in ("pandas", "pyspark"):
        return cast(Iterable[Any], table.columns)
    return [field.name for field in (table.schema if library == "pyarrow" else table.schema().fields)]


def as_relation(table: Any, relation: str | None) -> tuple[str, Any]:
    """The relation that a table has the rows of, and its rows; unless said, triples, if its columns are called so."""
    if relation is not None:
        return relation, table
    library = table_kind(table)
    assert library is not None
    names = list(_names_of(library, table))
    lower = [str(name).lower() for name in names]
    for triple in _TRIPLES:
        if sorted(lower) == sorted(triple):
            return TRIPLE, _select(library, table, [names[lower.index(name)] for name in triple])
    raise UsageError(
        f'whose rows are these? The columns are {", ".join(map(str, names)) or "none"}. Say relation="edge" or '
        '{"edge": table}; or call the columns subject, predicate, object if they are triples'
    )


def _select(library: str, table: Any, names: list[Any]) -> Any:
    if library == "pandas":
        return table[names]
    if library == "deltalake":
        return DeltaReading(table, TRIPLE, tuple(names))
    return table.select(names)
