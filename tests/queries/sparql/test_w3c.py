"""The W3C suites of SPARQL 1.0 and 1.1, where they are present beside the repository.

Queries and updates are run on the default graph, and updates are judged by it: named graphs, which some tests have
beside it, are left out. Results go through our writer of the format that the test expects. Tests of entailment are run
once for each regime that has a rule set here: RDF and RDFS with the rules of RDFS, the OWL regimes with OWL 2 RL.
`exceptions.txt` names every test that does not pass; one that passes must not be named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

import tidelog
from tests.queries.sparql.bags import same
from tests.queries.sparql.exceptions import OUTSIDE, exceptions
from tests.queries.sparql.expected import agrees, facts, graph
from tests.queries.sparql.manifest import Case, cases
from tidelog import rulesets
from tidelog.errors import ParseError, TidelogError, UsageError
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.terms import TRIPLE, to_term
from tidelog.queries.sparql import parse
from tidelog.queries.sparql.syntax.update_grammar import parse_update

REGIMES = {"RDF": "RDF", "RDFS": "RDFS", "OWL-RDF-Based": "RL", "OWL-Direct": "RL"}
ORDERED = re.compile(r"}\s*ORDER\s+BY[^{}]*$", re.IGNORECASE)
LEAST = 0.98  # of the query evaluation tests that are not outside


def every_case() -> Iterator[Case]:
    """Each test, those of entailment once for each regime."""
    for case in cases():
        if not case.regimes:
            yield case
        for regime in sorted({REGIMES.get(given, given) for given in case.regimes} - {"D"}) or [*case.regimes]:
            yield replace(case, name=f"{case.name}@{regime}", regime=regime)


CASES = list(every_case())
EXCEPTIONS = exceptions()


def passes(case: Case) -> bool:
    text = f"BASE <{case.base}>\n{case.text.read_text(encoding='utf-8')}"
    if case.kind in ("right", "wrong"):
        return is_well_formed(text, case.is_update) == (case.kind == "right")
    with tidelog.open() as kb:
        close(kb, case.regime)
        kb.apply(add=list(facts(case.data, case.base)))
        if case.kind == "update":
            kb.update(text)
            expected = graph(case.result, case.base) if case.result else []
            return same((tuple(map(to_term, row)) for row in kb.facts(TRIPLE)), expected)
        assert case.result
        return agrees(kb.sparql(text), case.result, case.base, ordered=bool(ORDERED.search(text)), lax=case.lax)


def is_well_formed(text: str, is_update: bool) -> bool:
    try:
        _ = parse_update(text) if is_update else parse(text, {})
    except ParseError:
        return False
    except UsageError:
        return True  # well formed, and refused
    return True


def close(kb: KnowledgeBase, regime: str) -> None:
    """The rules of a regime."""
    if regime in ("RDF", "RDFS"):
        kb.apply(add_rules=rulesets.rdfs(axiomatic=regime == "RDFS"))
    elif regime == "RL":
        kb.apply(add_rules=rulesets.owl2rl(reflexive=True))


def outcome(case: Case) -> str:
    """Nothing, or why the test does not pass."""
    try:
        return "" if passes(case) else "another result"
    except TidelogError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.skipif(not CASES, reason="the W3C suite is not beside the repository")
def test_the_suite_is_found() -> None:
    assert len(CASES) > 1000
    assert EXCEPTIONS.keys() <= {case.name for case in CASES}


@pytest.mark.skipif(not CASES, reason="the W3C suite is not beside the repository")
def test_enough_pass() -> None:
    inside = [c for c in CASES if c.kind == "query" and not EXCEPTIONS.get(c.name, "").startswith(OUTSIDE)]
    failures = [c for c in inside if c.name in EXCEPTIONS]
    assert len(failures) <= (1 - LEAST) * len(inside)
    assert not [c for c in CASES if c.kind in ("right", "wrong") and c.name in EXCEPTIONS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case) -> None:
    found = outcome(case)
    if case.name in EXCEPTIONS:
        assert found, "it passes: take it off the list"
        pytest.xfail(EXCEPTIONS[case.name])
    assert not found
