"""Tables that a user holds: pandas and Spark DataFrames, Arrow tables, Delta tables. What their columns are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidelog.errors import UsageError
from tidelog.formats.delta_tables import DeltaReading
from tidelog.model.vocabulary import TRIPLE

KINDS = ("pandas", "pyarrow", "pyspark", "deltalake")
_TRIPLES = (("subject", "predicate", "object"), ("s", "p", "o"))


def table_kind(value: object) -> str | None:
    """Which library's table this is, if it is one; no library is imported to find out."""
    library = type(value).__module__.partition(".")[0]
    return library if library in KINDS and _names_of(library, value) is not None else None


def _names_of(library: str, table: Any) -> Sequence[str] | None:
    if library in ("pandas", "pyspark"):
        return getattr(table, "columns", None)
    schema = getattr(table, "schema", None)
    if library == "pyarrow" or schema is None:
        return getattr(schema, "names", None)
    return [field.name for field in schema().fields]


def as_relation(table: Any, relation: str | None) -> tuple[str, Any]:
    """The relation that a table has the rows of, and its rows; unless said, triples, if its columns are called so."""
    library = table_kind(table)
    assert library is not None
    names = list(_names_of(library, table) or ())
    if relation is not None:
        return relation, table
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
