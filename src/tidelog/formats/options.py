"""The parameters of reads and writes (`@import`, `@export`), checked and typed.

Values are Python values or terms: `format=(string, int)` in a rule file gives plain names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from tidelog.errors import UsageError
from tidelog.model.terms import Term, plain

CELL_FORMATS = ("any", "string", "int", "double", "skip")
_PARAMETERS = {"header": "ignore_headers"}  # argument of `load` -> parameter
_NAMED_DELIMITERS = {"\\t": "\t", "tab": "\t"}
_COMPRESSIONS = {"gzip": True, "gz": True, "none": False, "": False}
_KNOWN = (
    *("resource", "format", "delimiter", "ignore_headers", "limit", "compression", "quoting", "types", "base"),
    "graphs",
)


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """The parameters of one read or write. `columns` None: all columns, each as "any"."""

    predicate: str
    columns: tuple[str, ...] | None = None
    delimiter: str | None = None
    ignore_headers: bool = False
    limit: int | None = None
    gzip: bool | None = None
    quoting: bool = True
    types: bool = False  # dates, times, booleans and numbers with exponents are recognised
    base: str | None = None
    graphs: bool = False  # named graphs are the first column, as in Nemo; else they are dropped


class Reading(TypedDict, total=False):
    """How `KnowledgeBase.load` reads files.

    `format` is the format of files whose name does not say it. `header`: the first row has the names of the columns.
    `delimiter` separates the cells. `types`: dates, times, booleans and numbers with exponents are recognised.

    >>> Reading(header=True, delimiter=";")
    {'header': True, 'delimiter': ';'}
    """

    format: str
    header: bool
    delimiter: str
    types: bool


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How to read a file: the relation of its rows, its format (None: by its name), and other parameters."""

    relation: str | None = None
    format: str | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)


def reading_options(relation: str | None, given: Reading) -> ReadingOptions:
    """The options for what a user gave to `load`."""
    parameters = {_PARAMETERS.get(name, name): value for name, value in given.items() if name != "format"}
    if unknown := given.keys() - Reading.__annotations__.keys():
        raise UsageError(f"load does not know {min(unknown)}; files are read by: {', '.join(Reading.__annotations__)}")
    return ReadingOptions(relation, given.get("format"), parameters)


def options(predicate: str, parameters: Mapping[str, object] | None) -> FormatOptions:
    """The options of a parameter map. Unknown parameters and wrong values are refused."""
    given = {str(k): _python(v) for k, v in (parameters or {}).items()}
    for name in given:
        if name not in _KNOWN:
            raise UsageError(f"unknown parameter {name!r}; known are: {', '.join(_KNOWN)}")
    return FormatOptions(
        predicate=predicate,
        columns=_columns(given.get("format")),
        delimiter=_delimiter(given.get("delimiter")),
        ignore_headers=_flag("ignore_headers", given, False),
        limit=_limit(given.get("limit")),
        gzip=_compression(given.get("compression")),
        quoting=_flag("quoting", given, True),
        types=_flag("types", given, False),
        base=str(given["base"]) if given.get("base") else None,
        graphs=_flag("graphs", given, False),
    )


def _python(value: object) -> object:
    """The Python value of a parameter: a term becomes its plain text."""
    if isinstance(value, str) and value[:1] in ("<", '"') and len(value) > 1:
        return plain(Term(value))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_python(v) for v in value)
    return value


def _columns(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = tuple(str(v) for v in value) if isinstance(value, tuple) else (str(value),)
    for name in names:
        if name not in CELL_FORMATS:
            raise UsageError(f"unknown column format {name!r}; known are: {', '.join(CELL_FORMATS)}")
    return names


def _delimiter(value: object) -> str | None:
    if value is None:
        return None
    text = _NAMED_DELIMITERS.get(str(value), str(value))
    if len(text) != 1 or not text.isascii() or text in '"\r\n':
        raise UsageError(f"delimiter must be one ASCII character other than a quote or a line end, not {text!r}")
    return text


def _flag(name: str, given: Mapping[str, object], default: bool) -> bool:
    value = given.get(name, default)
    text = str(value).lower()
    if text not in ("true", "false"):
        raise UsageError(f"{name} must be true or false, not {value!r}")
    return text == "true"


def _limit(value: object) -> int | None:
    if value is None:
        return None
    if not (text := str(value)).isascii() or not text.isdigit():
        raise UsageError(f"limit must be a whole number of rows, not {value!r}")
    return int(text)


def _compression(value: object) -> bool | None:
    if value is None:
        return None
    if (text := str(value).lower()) not in _COMPRESSIONS:
        raise UsageError(f'compression must be "gzip" or "none", not {value!r}')
    return _COMPRESSIONS[text]
