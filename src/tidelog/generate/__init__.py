"""Generators of benchmark data. The same seed gives the same data on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path


def package_text(name: str) -> str:
    """The text of a data file of this package: rules or an ontology."""
    return resources.files("tidelog.generate").joinpath("data", name).read_text(encoding="utf-8")


def write_tables(out: Path, rules: str, relations: Mapping[str, Sequence[Iterable[str]]]) -> int:
    """Write each relation as a CSV file, and the data file `rules`, into the directory; return the number of rows."""
    out.mkdir(parents=True, exist_ok=True)
    for name, rows in relations.items():
        (out / f"{name}.csv").write_text("".join(f"{','.join(row)}\n" for row in rows), encoding="utf-8")
    (out / rules).write_text(package_text(rules), encoding="utf-8")
    return sum(map(len, relations.values()))
