"""Datalog queries: answers and which of them are asserted, errors with their place, limits."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog

FOLDER = Path(__file__).parent
FACTS = "parent(ann, bob) . parent(bob, cid) . parent(ann, dan) . ancestor(ann, dan) . age(bob, 31) . age(cid, 7) ."
RULES = "ancestor(?x, ?y) :- parent(?x, ?y) . ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) ."


@pytest.fixture(params=["off", "rewriting"])
def kb(request: pytest.FixtureRequest) -> tidelog.KnowledgeBase:
    kb = tidelog.open(equality=request.param)
    kb.apply(add=FACTS, add_rules=RULES)
    return kb


def answers() -> list[tuple[str, list[list[str]]]]:
    """A query and its answers, each with a sign: + if it is asserted."""
    lines = (FOLDER / "queries.txt").read_text(encoding="utf-8").splitlines()
    return [(x[:52].strip(), [r.split() for r in x[52:].split("|") if r.strip()]) for x in lines]


@pytest.mark.parametrize(("query", "expected"), answers())
def test_answers(query: str, expected: list[list[str]], kb: tidelog.KnowledgeBase) -> None:
    found = kb.query(query)
    signs = ["+" if mark else "-" for mark in found.asserted]
    assert sorted([*map(str, row), sign] for row, sign in zip(found, signs, strict=True)) == sorted(expected)
    for kind, sign in (("explicit", "+"), ("derived", "-")):
        some = kb.query(query, kind=kind)  # type: ignore[arg-type]
        assert sorted([*map(str, row), sign] for row in some) == sorted(r for r in expected if r[-1] == sign)
        assert some.asserted == [sign == "+"] * len(some)


def mistakes() -> list[tuple[str, str]]:
    paragraphs = (FOLDER / "wrong_queries.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return [(lines[1], lines[2]) for lines in (p.splitlines() for p in paragraphs)]


@pytest.mark.parametrize(("query", "message"), mistakes())
def test_a_wrong_query_says_where(query: str, message: str, kb: tidelog.KnowledgeBase) -> None:
    with pytest.raises(tidelog.TidelogError) as caught:
        kb.query(query)
    assert str(caught.value).startswith(message)
    column = int(message.split(":")[2])
    assert str(caught.value).endswith(f"\n    {query}\n    {' ' * (column - 1)}^")


def test_a_place_in_a_later_line() -> None:
    with pytest.raises(tidelog.RuleError, match="<query>:2:2: "):
        tidelog.open().query("p(?x),\n ?y > 3")


def test_an_unknown_kind_is_refused(kb: tidelog.KnowledgeBase) -> None:
    with pytest.raises(tidelog.UsageError, match='expected "all", "explicit" or "derived"'):
        kb.query("parent(?x, ?y)", kind="asserted")  # type: ignore[arg-type]


LARGE = "left(?x), right(?y)"
LIMITS = [
    (LARGE, {"max_rows": 1000}, "more than max_rows=1000 answers"),
    (LARGE, {"max_memory": 30_000_000}, "MB, more than max_memory=30000000 bytes"),
    (LARGE, {"timeout": 0}, "timeout=0 seconds"),
    ("left(?x), right(?y), ?x = ?y + 0.5", {"timeout": 0.05}, "timeout=0.05 seconds"),
]


@pytest.mark.parametrize(("query", "limits", "message"), LIMITS)
def test_a_query_is_stopped_at_its_limit_and_the_next_one_works(
    query: str, limits: dict[str, float], message: str
) -> None:
    kb = tidelog.open()
    numbers = [(i,) for i in range(20_000)]
    kb.apply(add={"left": numbers, "right": numbers})
    with pytest.raises(tidelog.LimitError, match=message):
        kb.query(query, **limits)  # type: ignore[arg-type]
    assert len(kb.query("left(?x), right(?x)", timeout=60, max_rows=20_000, max_memory=10**9)) == 20_000


def test_limits_are_for_one_query() -> None:
    kb = tidelog.open()
    kb.apply(add={"p": [(i,) for i in range(100)]})
    with pytest.raises(tidelog.LimitError):
        kb.query("p(?x)", max_rows=99)
    assert len(kb.query("p(?x)")) == len(kb.query("p(?x)", max_rows=100)) == 100
    with pytest.raises(tidelog.UsageError, match="max_rows is -1"):
        kb.query("p(?x)", max_rows=-1)


def test_facts_and_changes_know_what_is_asserted(tmp_path: Path) -> None:
    kb = tidelog.open(tmp_path / "x.kb")
    change = kb.apply(add="p(a) . q(b) .", add_rules="q(?x) :- p(?x) .")
    signs = {("p", "a"): True, ("q", "a"): False, ("q", "b"): True}
    everything = kb.all_facts()
    for facts in (change.added, everything, kb.diff(0, 1).added):
        assert dict(zip(facts, facts.asserted, strict=True)) == signs
    q = kb.facts("q")
    assert dict(zip(q, q.asserted, strict=True)) == {("a",): False, ("b",): True}
    gone = kb.apply(remove="p(a) .").removed
    assert dict(zip(gone, gone.asserted, strict=True)) == {("p", "a"): True, ("q", "a"): False}
    lost = kb.diff(1, 2).removed
    assert dict(zip(lost, lost.asserted, strict=True)) == {("p", "a"): True, ("q", "a"): False}
    assert change.added.of("q").asserted.count(True) == 1


def test_rows_of_sparql_know_it_too() -> None:
    kb = tidelog.open()
    kb.apply(add="[a, p, b] . [b, p, c] . [b, q, c] .", add_rules="[?x, q, ?y] :- [?x, p, ?y] .")
    rows = kb.sparql("SELECT ?x ?y { ?x <q> ?y }")
    assert isinstance(rows, tidelog.Answers)
    assert sorted(rows.marked()) == [("a", "b", False), ("b", "c", True)]
