"""A change that is printed can be loaded again."""

from __future__ import annotations

import pytest

import tidelog as library
from tests.project.test_cli import Command
from tidelog.model.terms import Fact, Term, iri, literal, string

TEXTS = ["", "a b", "new\nline", 'quo"te', "back\\slash", "bell\x07", "zero\u200bwidth", "a\tb", "% sign", "😀\u2028"]
TERMS = [
    *map(string, TEXTS),
    *(literal(text, language="en") for text in TEXTS),
    *(literal(text, "http://example.org/type") for text in TEXTS),
    *(iri(text) for text in ("ann", "NOT", "a-b", "http://example.org/a#b", "http://example.org/\u00a0", "é", "true")),
    *(Term("_:b0"), literal("01", "http://www.w3.org/2001/XMLSchema#integer"), Term('"1"^^<http://e.org/\u200b>')),
]
FACTS = [Fact("p", (term, string(str(n)))) for n, term in enumerate(TERMS)]


@pytest.fixture
def kb(tidelog: Command) -> str:
    """A knowledge base whose third version has other facts, explicit and derived, than its first."""
    with library.open("a.kb") as kb:
        kb.apply(add=FACTS[::2], add_rules="q(?x) :- p(?x, ?y) . p(?x, ?x) :- r(?x) .")
        kb.apply(remove=FACTS[::4], add="@prefix ex: <http://example.org/> . ex:r(ex:s) . r(both) . p(both, both) .")
        kb.apply(remove="p(both, both) .", add=FACTS)
    return "a.kb"


@pytest.mark.parametrize(("older", "newer"), [(1, 3), (3, 1), (2, 3), (1, 2), (0, 2)])
def test_a_diff_is_a_change(older: int, newer: int, kb: str, tidelog: Command) -> None:
    lines = tidelog("diff", kb, older, newer, "--kind", "explicit").out.splitlines()
    assert {line[:2] for line in lines} <= {"+ ", "- "}
    with library.open(kb, read_only=True) as known, library.open() as copy:
        declared = "".join(f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in known.prefixes.items())
        before = known.at(older)
        copy.apply(add="\n".join(before.all_facts("explicit").texts()), add_rules=before.rules)
        assert copy.digest() == before.digest()
        plus, minus, plus_rules, minus_rules = (
            declared + "\n".join(line[2:] for line in lines if line[0] == sign and (":- " in line) == of_rules)
            for of_rules in (False, True)
            for sign in "+-"
        )
        copy.apply(plus, minus, plus_rules, minus_rules)
        assert copy.digest() == known.at(newer).digest()


def test_a_diff_marks_derived_facts(kb: str, tidelog: Command) -> None:
    for older, newer in ((1, 3), (3, 1)):
        every = tidelog("diff", kb, older, newer).out.splitlines()
        explicit = tidelog("diff", kb, older, newer, "--kind", "explicit").out.splitlines()
        assert [line for line in every if not line.endswith("  % derived")] == explicit
        assert len(every) > len(explicit)


def test_lines_that_are_left_out_are_comments(tidelog: Command) -> None:
    assert tidelog("init", "a.kb").code == 0
    lines = tidelog("update", "a.kb", "--add", "p(1) . p(2) . p(3) . q(1) .", "--show", 2).out.splitlines()
    assert lines[:-1] == ["+ p(1) .", "+ p(2) .", "+ % 1 more of p", "+ % 1 more of q"]
    with library.open() as kb:
        assert len(kb.apply(add="\n".join(line[2:] for line in lines[:-1])).added) == 2
