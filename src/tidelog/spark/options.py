"""The options of `spark.read.format("tidelog")`, checked and typed. Spark spells their names in any case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tidelog.errors import UsageError
from tidelog.model.vocabulary import TRIPLE
from tidelog.queries import Kind, check_kind
from tidelog.spark.columns import FORMS, PLAIN

_KNOWN = (
    "path", "relation", "kind", "asOf", "changesSince", "terms", "columns", "predicate", "partitions", "pushdown",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    path: str
    relation: str = TRIPLE
    kind: Kind = "all"
    as_of: int | None = None
    changes_since: int | None = None
    terms: str = PLAIN
    columns: tuple[str, ...] = ()
    predicate: str | None = None
    partitions: int | None = None
    pushdown: bool = False


def read_options(options: Mapping[str, str]) -> Options:
    """The options of a read; unknown or wrong ones are refused."""
    given = {name.lower(): value for name, value in options.items()}
    if unknown := given.keys() - {name.lower() for name in _KNOWN}:
        raise UsageError(f"unknown option {min(unknown)!r}; known are: {', '.join(_KNOWN)}")
    if not given.get("path"):
        raise UsageError('name the directory of a knowledge base: spark.read.format("tidelog").load("family.kb")')
    check_kind(kind := given.get("kind", "all"))
    return Options(
        path=str(Path(given["path"].removeprefix("file://")).absolute()),
        relation=given.get("relation", TRIPLE),
        kind=cast(Kind, kind),
        as_of=_number("asOf", given),
        changes_since=_number("changesSince", given),
        terms=_one_of("terms", given, FORMS),
        columns=tuple(name.strip() for name in given["columns"].split(",")) if "columns" in given else (),
        predicate=given.get("predicate"),
        partitions=_number("partitions", given),
        pushdown=_one_of("pushdown", given, ("false", "true")) == "true",
    )


def _number(name: str, given: Mapping[str, str]) -> int | None:
    text = given.get(name.lower())
    if text is not None and not (text.isascii() and text.isdigit()):
        raise UsageError(f"{name} is a whole number, not {text!r}")
    return None if text is None else int(text)


def _one_of(name: str, given: Mapping[str, str], choices: tuple[str, ...]) -> str:
    """The first choice unless another one is given."""
    value = given.get(name, choices[0]).lower()
    if value not in choices:
        raise UsageError(f"{name} is one of {', '.join(choices)}, not {given[name]!r}")
    return value
