"""Queries, facts and explicit facts through the public interface: the same under rewriting as under the axioms."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from tests.algorithms.equality.axioms import arities, axioms
from tidelog.rules.parsing.parser import parse_program
from tidelog.rules.syntax import RuleFile

BLOCKS = [
    block
    for text in Path(__file__).with_name("queries.txt").read_text(encoding="utf-8").split("\n\n")
    if (block := [line for line in text.splitlines() if line and not line.startswith("%")])
]


def opened(program: RuleFile, equality: str) -> tidelog.KnowledgeBase:
    kb = tidelog.open(equality=equality)
    known = axioms(arities(program.rules, program.facts)) if equality == "off" else []
    kb.apply(add=program.facts, add_rules=[*program.rules, *known])
    return kb


def seen(kb: tidelog.KnowledgeBase, queries: list[str]) -> dict[str, object]:
    answers: dict[str, object] = {query: sorted(map(str, kb.query(query))) for query in queries}
    kinds = {kind: sorted(map(str, kb.all_facts(kind))) for kind in ("all", "explicit", "derived")}
    relations = {row[0] for row in kb.all_facts()}
    return answers | kinds | {str(name): sorted(map(str, kb.facts(str(name), "derived"))) for name in relations}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block[0][:40])
def test_answers_are_those_of_the_axioms(block: list[str]) -> None:
    program = parse_program("\n".join(line for line in block if line[0] not in "?-"))
    queries = [line[2:] for line in block if line[0] == "?"]
    rewriting, axiomatised = (opened(program, mode) for mode in ("rewriting", "off"))
    assert seen(rewriting, queries) == seen(axiomatised, queries)
    for removal in (line for line in block if line[0] == "-"):
        facts, rules = (None, removal[3:]) if removal.startswith("--") else (removal[2:], None)
        changes = [kb.apply(remove=facts, remove_rules=rules) for kb in (rewriting, axiomatised)]
        lost, also = (sorted(map(str, change.removed)) for change in changes)
        assert lost == also
        assert lost
        assert seen(rewriting, queries) == seen(axiomatised, queries)
