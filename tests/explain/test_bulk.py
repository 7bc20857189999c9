"""The table of rule instances is that of the book."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import tidelog
from tests.explain.naive import Naive, premises_of
from tests.explain.worlds import random_world
from tests.reference.engine import ReferenceFacts, ground, matches
from tidelog.algebra.sourced_rule import all_from
from tidelog.explain.explained_version import premises
from tidelog.model.terms import Fact
from tidelog.rules.parsing.parser import parse_facts
from tidelog.rules.syntax import Rule

Row = tuple[Fact, str, str, tuple[Fact, ...]]


def parsed(text: str) -> Fact:
    (fact,) = parse_facts(f"{text} .")
    return fact


def rows_of(table: Any, rules: tuple[Rule, ...]) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for fact, kind, rule, _, body in table.to_rows():
        found[parsed(fact), kind, rules[rule - 1].key if rule else "", tuple(map(parsed, body))] += 1
    return found


def expected(naive: Naive, goals: set[Fact]) -> Counter[Row]:
    """One row for each instance, for each match of an aggregate's group, and for each explicit fact."""
    model = ReferenceFacts(naive.I)
    rows: Counter[Row] = Counter((fact, "explicit", "", ()) for fact in goals & naive.E)
    for i in naive.instances:
        if i.head not in goals:
            continue
        if i.rule.aggregate is None:
            rows[i.head, "rule", i.rule.key, premises_of(i)] += 1
            continue
        for match in matches(all_from(i.rule, model)):
            (head,) = i.rule.heads
            at = head.args.index(i.rule.aggregate)
            if ground(head, match) == (*i.head.args[:at], *i.head.args[at + 1 :]):
                rows[i.head, "aggregate", i.rule.key, premises(i.rule, match)] += 1
    return rows


def below(naive: Naive, goals: set[Fact]) -> set[Fact]:
    found, new = set(goals), set(goals)
    while new:
        new = {p for i in naive.instances if i.head in new for p in i.premises} - found
        found |= new
    return found


def pattern_of(predicate: str, arity: int) -> str:
    return f"<{predicate}>({', '.join(f'?x{i}' for i in range(arity))})"


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    with random_world(seed) as (kb, naive, _):
        for predicate, arity in sorted({(f.predicate, len(f.args)) for f in naive.I}):
            goals = {f for f in naive.I if f.predicate == predicate}
            pattern = pattern_of(predicate, arity)
            assert rows_of(kb.explain_all(pattern), kb.rules) == expected(naive, goals)
            assert rows_of(kb.explain_all(pattern, deep=True), kb.rules) == expected(naive, below(naive, goals))


FAMILY = """parent(ann, bob) . parent(bob, "Cid \\"x\\"") . age(ann, 42) . age(bob, 4.5) . [ann, rdf:type, <true>] ."""
RULES = """
    #[name("first")] ancestor(?x, ?y) :- parent(?x, ?y) .
    ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
    old(?x, ?n) :- age(?x, ?n), ?n > 4, ~young(?x) .
    [?x, rdf:type, Person] :- [?x, rdf:type, ?c] .
    root(ann) :- .
"""
TABLES: list[tuple[str, dict[str, Any], list[tuple[Any, ...]]]] = [
    ("ancestor(ann, bob)", {}, [("ancestor(ann, bob)", "rule", 1, "first", ["parent(ann, bob)"])]),
    (
        'ancestor(?x, "Cid \\"x\\"")',
        {},
        [
            ('ancestor(ann, "Cid \\"x\\"")', "rule", 2, None, ["ancestor(ann, bob)", 'parent(bob, "Cid \\"x\\"")']),
            ('ancestor(bob, "Cid \\"x\\"")', "rule", 1, "first", ['parent(bob, "Cid \\"x\\"")']),
        ],
    ),
    (
        "ancestor(?x, bob)",
        {"depth": 2},
        [
            ("ancestor(ann, bob)", "rule", 1, "first", ["parent(ann, bob)"]),
            ("parent(ann, bob)", "explicit", None, None, []),
        ],
    ),
    ("old(ann, ?n)", {}, [("old(ann, 42)", "rule", 3, None, ["age(ann, 42)"])]),
    ("old(bob, ?n)", {}, [("old(bob, 4.5)", "rule", 3, None, ["age(bob, 4.5)"])]),
    ("root(?x)", {}, [("root(ann)", "axiom", 5, None, [])]),
    ("nothing(?x)", {}, []),
]


@pytest.mark.parametrize(("pattern", "options", "rows"), TABLES)
def test_the_table(pattern: str, options: dict[str, Any], rows: list[tuple[Any, ...]]) -> None:
    kb = tidelog.open()
    kb.apply(add=FAMILY, add_rules=RULES)
    table = kb.explain_all(pattern, **options)
    assert sorted(table.to_rows(), key=str) == rows
    assert len(table) == len(rows)
    assert table.to_arrow().column_names == list(table.names)
    assert len(table.to_pandas()) == len(rows)


def test_any_triple() -> None:
    kb = tidelog.open()
    kb.apply(add=FAMILY, add_rules=RULES)
    found = {row[0] for row in kb.explain_all("[?x, ?p, ?y]").to_rows() if row[1] == "rule"}
    assert {parsed(text).args[2] for text in found} == {"<Person>"}
    assert len(kb.explain_all("[ann, ?p, <true>]").to_rows()) == 1


@pytest.mark.parametrize("pattern", ["p(?x), q(?x)", "?x > 3", "~p(a)"])
def test_only_one_atom(pattern: str) -> None:
    with pytest.raises(tidelog.TidelogError):
        tidelog.open().explain_all(pattern)


def test_no_depth() -> None:
    with pytest.raises(tidelog.UsageError, match="depth is 0"):
        tidelog.open().explain_all("p(?x)", depth=0)


def test_more_than_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidelog.explain.columns._BLOCK", 7)
    kb = tidelog.open()
    kb.apply(add={"p": [(i,) for i in range(50)]}, add_rules="q(?x) :- p(?x), p(?x) .")
    rows = kb.explain_all("q(?x)").to_rows()
    assert sorted(rows) == sorted((f"q({i})", "rule", 1, None, [f"p({i})"] * 2) for i in range(50))


def test_two_heads_that_become_one_fact() -> None:
    kb = tidelog.open()
    kb.apply(add="e(a, a) . e(a, b) .", add_rules="s(?x, ?y), s(?y, ?x) :- e(?x, ?y) .")
    assert sorted(row[0] for row in kb.explain_all("s(?x, ?y)").to_rows()) == ["s(a, a)", "s(a, b)", "s(b, a)"]


class Session:
    """What a Spark session is asked for."""

    def createDataFrame(self, table: Any) -> Any:  # noqa: N802
        return ["data frame", table.num_rows, table.column_names]


def test_a_spark_session_gets_the_table() -> None:
    kb = tidelog.open()
    kb.apply(add=FAMILY, add_rules=RULES)
    frame = kb.explain_all("ancestor(?x, ?y)", engine="local", spark=Session())
    assert frame == ["data frame", 3, ["fact", "kind", "rule", "name", "body"]]
