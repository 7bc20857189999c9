"""The examples of Volz, Staab, Motik, with the sets they print: by the printed program, and by the knowledge base."""

from __future__ import annotations

import pytest

import tidelog
from tests.algorithms.declarative_dred.change_rules import transition
from tests.algorithms.declarative_dred.running import Run, run, state
from tests.oracle.histories import State
from tidelog.changes.result import Change
from tidelog.model.terms import Fact
from tidelog.rules.parsing.parser import parse_facts, parse_rules

# Figure 2: the edges that the text names and implies.
TAXONOMY = "t(?a, subClassOf, ?c) :- t(?b, subClassOf, ?c), t(?a, subClassOf, ?b) ."
EDGES = "ab eb fe bc cg dc ed"
PRINTED = {
    "Del": "bc bg ac ag ec eg fc fg",
    "Red": "ec eg fc fg",
    "Ins": "hd hc hg",
    "Plus": "hd hc hg",
    "Minus": "ac ag bc bg",
}


def edges(pairs: str) -> str:
    return " ".join(f"t({pair[0]}, subClassOf, {pair[1]}) ." for pair in pairs.split())


def taxonomy() -> tuple[State, State]:
    return state(TAXONOMY, edges(EDGES)), state(TAXONOMY, edges(EDGES.replace("bc ", "") + " hd"))


@pytest.mark.parametrize(("mark", "pairs"), PRINTED.items())
def test_the_taxonomy(mark: str, pairs: str) -> None:
    assert run(*taxonomy())[mark] == set(parse_facts(edges(pairs)))


def test_the_taxonomy_in_a_knowledge_base() -> None:
    with tidelog.open() as kb:
        kb.apply(add=edges(EDGES), add_rules=TAXONOMY)
        change = kb.apply(add=edges("hd"), remove=edges("bc"), algorithm="declarative")
    assert pairs_of(change) == ({"hd", "hc", "hg"}, {"ac", "ag", "bc", "bg"})
    assert change.work.counters["D"] == 8


def pairs_of(change: Change) -> tuple[set[str], set[str]]:
    added, removed = ({f"{row[1]}{row[3]}" for row in rows} for rows in (change.added, change.removed))
    return added, removed


# Table 1.
DYNASTY = (
    "inDynasty(?x, ?y) :- hasChild(?x, ?y) .",
    "inDynasty(?x, ?y) :- inDynasty(?x, ?z), inDynasty(?z, ?y) .",
    "inDynasty(?x, ?y) :- inDynasty(?y, ?x) .",
)
CHILDREN = "hasChild(1, 2) . hasChild(2, 3) . hasChild(4, 3) ."
# Rules before and after, and the extension of inDynasty after.
CHANGES = {
    "the first axiom is deleted": ((0, 1), (1,), ""),
    "the second axiom is deleted": ((0, 1), (0,), "12 23 43"),
    "the second axiom is inserted": ((0,), (0, 1), "12 23 43 13"),
    "the third axiom is inserted": ((0, 1), (0, 1, 2), " ".join(f"{a}{b}" for a in range(1, 5) for b in range(1, 5))),
    "all are deleted": ((0, 1, 2), (), ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_dynasty(change: str) -> None:
    old, new, pairs = CHANGES[change]
    before, after = (state("".join(DYNASTY[i] for i in rules), CHILDREN) for rules in (old, new))
    found = run(before, after)
    expected = set(parse_facts(" ".join(f"inDynasty({pair[0]}, {pair[1]}) ." for pair in pairs.split())))
    assert found["New"] == expected
    assert found["Temp"] == expected
    assert after_change(before, found) == expected


def after_change(before: State, found: Run) -> set[Fact]:
    return {f for f in before.model if f.predicate == "inDynasty"} - found["Minus"] | found["Plus"]


@pytest.mark.parametrize("change", CHANGES)
def test_the_dynasty_in_a_knowledge_base(change: str) -> None:
    old, new, pairs = CHANGES[change]
    with tidelog.open() as kb:
        kb.apply(add=CHILDREN, add_rules="".join(DYNASTY[i] for i in old))
        kb.apply(
            add_rules="".join(DYNASTY[i] for i in new if i not in old),
            remove_rules="".join(DYNASTY[i] for i in old if i not in new),
            algorithm="declarative",
        )
        assert {f"{x}{y}" for x, y in kb.facts("inDynasty")} == set(pairs.split())


def test_the_temporary_predicate_is_defined_as_in_the_paper() -> None:
    old, new = parse_rules("".join(DYNASTY[:2])), parse_rules("".join(DYNASTY))
    expected = """
        <inDynasty^Temp>(?x1, ?x2) :- <inDynasty^Ext^New>(?x1, ?x2) .
        <inDynasty^Temp>(?x, ?y) :- <hasChild^New>(?x, ?y) .
        <inDynasty^Temp>(?x, ?y) :- <inDynasty^Temp>(?x, ?z), <inDynasty^Temp>(?z, ?y) .
        <inDynasty^Temp>(?x, ?y) :- <inDynasty^Temp>(?y, ?x) .
        <inDynasty^Ins>(?x1, ?x2) :- <inDynasty^Temp>(?x1, ?x2), ~inDynasty(?x1, ?x2) .
        <inDynasty^Del>(?x1, ?x2) :- inDynasty(?x1, ?x2), ~<inDynasty^Temp>(?x1, ?x2) ."""
    assert transition(old, new)[-6:] == parse_rules(expected)


def test_predicates_do_not_keep_each_other_when_a_rule_goes() -> None:
    """Here p^Temp over the old q, as the paper has it, would keep both."""
    circle = "p(?x) :- q(?x) . q(?x) :- p(?x) ."
    found = run(state(f"p(?x) :- r(?x) . {circle}", "r(1) ."), state(circle, "r(1) ."))
    assert found["Minus"] == set(parse_facts("p(1) . q(1) ."))
