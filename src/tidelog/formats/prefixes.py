"""Reads the prefixes that RDF files declare, from their first part."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pyoxigraph

from tidelog.errors import InputError
from tidelog.formats.rdf import FORMATS
from tidelog.formats.rdfxml import namespaces
from tidelog.formats.source import opened_text
from tidelog.model.terms import ABSOLUTE_IRI
from tidelog.rules.parsing.tokens import NAME, STANDARD_PREFIXES

_SAMPLE = 1 << 16
_STATEMENTS = 1000
_PREFIX = re.compile(f"(?:{NAME})?")


def declared_prefixes(path: Path, format_: str) -> dict[str, str]:
    """The prefixes at the beginning of a file. Left out are those that rules and queries could not use.

    A file that cannot be read has none: its error is raised when its facts are read.
    """
    found: dict[str, str] = {}
    with suppress(InputError):
        found = namespaces(path) if format_ == "rdfxml" else _of_parser(path, format_)
    return {p: iri for p, iri in found.items() if is_prefix(p, iri) and STANDARD_PREFIXES.get(p) != iri}


def is_prefix(prefix: str, iri: str) -> bool:
    """Whether rules and queries can use a prefix with this meaning."""
    return _PREFIX.fullmatch(prefix) is not None and ABSOLUTE_IRI.fullmatch(iri) is not None


def _of_parser(path: Path, format_: str) -> dict[str, str]:
    with opened_text(path) as stream:
        statements = pyoxigraph.parse(stream.read(_SAMPLE), FORMATS[format_], lenient=True)
    with suppress(SyntaxError):  # the sample may end within a statement
        for _ in islice(statements, _STATEMENTS):
            pass
    return statements.prefixes
