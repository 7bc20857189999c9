"""Turtle is Notation3 without rules: the W3C's Turtle suite, where it is present beside the repository."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from tests.formats.test_w3c import CASES, Case, dataset
from tidelog.errors import TidelogError
from tidelog.languages import parse_n3

TURTLE = [case for case in CASES if case.format == "turtle"]
_NOTATION3 = "no Turtle, but Notation3"
_DEFAULT_PREFIX = "the default prefix needs no declaration in Notation3"
_SLASHES = "urllib drops empty steps of a path when it resolves `..`"
SKIPPED = {
    "turtle-syntax-bad-n3-extras-02": _NOTATION3,
    "turtle-syntax-bad-n3-extras-04": _NOTATION3,
    "turtle-syntax-bad-n3-extras-05": _NOTATION3,
    "turtle-syntax-bad-struct-02": _NOTATION3,
    "turtle-syntax-bad-prefix-01": _DEFAULT_PREFIX,
    "turtle-syntax-bad-prefix-02": _DEFAULT_PREFIX,
    "IRI-resolution-08": _SLASHES,
}


def statements(case: Case) -> bytes:
    text = f"@base <{case.base}> .\n{case.action.read_bytes().decode()}"
    return "".join(f"{' '.join(fact.args)} .\n" for fact in parse_n3(text).facts).encode()


@pytest.mark.skipif(not TURTLE, reason="the W3C suites are not beside the repository")
@pytest.mark.parametrize("case", TURTLE, ids=lambda c: c.name)
def test_turtle(case: Case) -> None:
    if case.name in SKIPPED:
        pytest.skip(SKIPPED[case.name])
    if "Negative" in case.kind:
        with pytest.raises(TidelogError):
            statements(case)
    elif case.result is not None:
        expected = dataset(case.result.read_bytes(), ox.RdfFormat.N_TRIPLES)
        assert dataset(statements(case), ox.RdfFormat.N_TRIPLES) == expected
    else:
        statements(case)
