"""JSON documents as facts of three columns, like `json` in Nemo: (node, key, child or value).

    {"name": "Ann", "ages": [7, 9]}        0 type "object"    0 "name" 1    1 type "string"    1 value "Ann"
                                           0 "ages" 2         2 type "array"
                                           2 0 3    3 type "number"    3 value 7
                                           2 1 4    4 type "number"    4 value 9

Nodes are numbered from 0, the root. The keys of objects are strings, those of arrays are positions from 0. `type` and
`value` are plain names. A null has no value. The document is read as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tidelog.dictionary.batch import Batch, batch_of_terms
from tidelog.errors import InputError, Location
from tidelog.formats.source import opened
from tidelog.model.terms import Term, integer, iri, string, to_term

_TYPE, _VALUE = iri("type"), iri("value")
_TYPES = {
    bool: "bool",
    int: "number",
    float: "number",
    str: "string",
    type(None): "null",
    list: "array",
    dict: "object",
}


def read_json(path: Path, predicate: str) -> Batch:
    """The facts of a JSON document."""
    with opened(path) as stream:
        data = stream.read()
    try:
        document = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        place = Location(str(path), error.lineno, error.colno)
        raise InputError(f"not JSON: {error.msg}", place) from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    return batch_of_terms(predicate, _rows(document), 3)


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON number")


def _rows(document: object) -> Iterator[tuple[Term, Term, Term]]:
    stack, last = [(0, document)], 0
    while stack:
        number, value = stack.pop()
        node = integer(number)
        yield node, _TYPE, string(_TYPES[type(value)])
        if isinstance(value, str | int | float):
            yield node, _VALUE, string(value) if isinstance(value, str) else to_term(value)
        members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, child in members:
            last += 1
            stack.append((last, child))
            yield node, string(key) if isinstance(key, str) else integer(key), integer(last)
