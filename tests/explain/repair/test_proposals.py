"""Repairs of small programs, written down."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from tidelog.rules.parsing.parser import parse_facts

PATH = Path(__file__).with_name("cases.txt")
Case = list[tuple[str, str]]


def read_cases() -> dict[str, Case]:
    """Paragraphs: a line that says what the case is about, then lines of a word and a text."""
    paragraphs = PATH.read_text(encoding="utf-8").strip().split("\n\n")
    cases = {}
    for title, *lines in (p.splitlines() for p in paragraphs):
        cases[title.removeprefix("# ")] = [(word, text.strip()) for word, _, text in (x.partition(" ") for x in lines)]
    return cases


CASES = read_cases()


def weights(text: str) -> dict[str, float]:
    return {name: float(number) for name, _, number in (w.partition("=") for w in text.split())}


@pytest.mark.parametrize("title", CASES)
def test_case(title: str) -> None:
    case = CASES[title]
    given = {word: text for word, text in case if word != "remove"}
    kb = tidelog.open()
    kb.apply(add=given["facts"], add_rules=given.get("rules"))
    weigh = weights(given["weigh"]) if "weigh" in given else None
    found = kb.repair(given["fact"], keep=given.get("keep"), weigh=weigh)
    assert [set(r.facts) for r in found] == [set(parse_facts(text)) for word, text in case if word == "remove"]
    assert found.complete
    assert given.get("reason", "") in found.reason
    assert bool(found) != bool(found.reason)
    for repair in found:
        assert list(kb.query(given["fact"])) == [()]
        assert sorted(repair.effect.removed) == sorted(kb.preview(remove=repair.facts).removed)
        assert list(_after(kb, repair).query(given["fact"])) == []


def _after(kb: tidelog.KnowledgeBase, repair: tidelog.Repair) -> tidelog.KnowledgeBase:
    other = tidelog.open()
    other.apply(add=list(kb.all_facts("explicit").texts()), add_rules=list(kb.rules))
    other.apply(remove=repair.facts)
    return other


WRONG = [
    ({"fact": "p(a) . p(b) ."}, "one fact is expected, not 2"),
    ({"fact": 7}, "cannot read a fact from int"),
    ({"fact": "p(a)", "limit": 0}, "at least 1"),
    ({"fact": "p(a)", "keep": 7}, "names of relations, facts and patterns, not int"),
    ({"fact": "p(a)", "keep": "~p(a)"}, "is not a pattern of facts to keep"),
    ({"fact": "p(a)", "weigh": {"p": 0}}, "expected a number above 0"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_use(arguments: dict[str, object], message: str) -> None:
    kb = tidelog.open()
    kb.apply(add="p(a) .")
    with pytest.raises(tidelog.UsageError, match=message):
        kb.repair(**arguments)  # type: ignore[arg-type]


def test_a_row_is_a_fact() -> None:
    kb = tidelog.open()
    kb.apply(add="p(a) .")
    (row,) = kb.all_facts()
    assert [repair.rows for repair in kb.repair(row)] == [[row]]


def test_with_rewriting_it_says_that_it_cannot() -> None:
    kb = tidelog.open(equality="rewriting")
    kb.apply(add="[a, owl:sameAs, b] .")
    with pytest.raises(tidelog.UsageError, match="equality is off"):
        kb.repair("[b, owl:sameAs, a]")


def test_too_many_tries_are_refused() -> None:
    kb = tidelog.open()
    kb.apply(add={"p": [(i,) for i in range(60)]}, add_rules="q(a) :- p(?x) .")
    with pytest.raises(tidelog.LimitError, match="no repair among the first 50 sets"):
        kb.repair("q(a)", max_tries=50)


def test_a_limit_leaves_the_question_open_whether_there_are_more() -> None:
    kb = tidelog.open()
    kb.apply(add="p(a) . q(a) .", add_rules="r(?x) :- p(?x), q(?x) .")
    some = kb.repair("r(a)", limit=1)
    assert len(some) == 1
    assert not some.complete
    assert "there may be more" in str(some)
