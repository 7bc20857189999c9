"""Proofs of random derived facts of a small university."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import tidelog
from tests.reference.checking import check
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import all_from
from tidelog.generate import lubm
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.terms import Fact

PROOFS = 200


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    """One department of a university, and its rules."""
    folder = tmp_path_factory.mktemp("lubm")
    lubm.write(1, folder)
    lines = (folder / "university-data.nt").read_text().splitlines(keepends=True)
    Path(folder, "some.nt").write_text("".join(line for line in lines if "Department0.University0" in line))
    kb = tidelog.open()
    kb.load(folder / "some.nt", folder / lubm.RULES)
    return kb


def heights_in(kb: KnowledgeBase) -> dict[Fact, int]:
    """In which round each fact is derived, when every rule is applied to everything in every round."""
    known, height = kb._state.E, 0
    heights = dict.fromkeys(known, 0)
    while new := kb._engine.derive([all_from(rule, known) for rule in kb.rules], Work()) - known:
        height += 1
        heights |= dict.fromkeys(new, height)
        known = known | new
    return heights


def test_random_derived_facts(kb: KnowledgeBase) -> None:
    explicit, facts, heights = set(kb._state.E), set(kb._state.I), heights_in(kb)
    chosen = Random(0).sample(sorted(facts - explicit), PROOFS)
    found = [kb.explain(fact) for fact in chosen]
    for fact, explanation in zip(chosen, found, strict=True):
        assert check(explanation.proof, kb.rules, explicit, ()) == []
        assert explanation.proof.fact == fact
    assert {f: e.depth for f, e in zip(chosen, found, strict=True)} == {f: heights[f] for f in chosen}
    assert max(e.depth for e in found) > 1


def test_all_instances_at_once(kb: KnowledgeBase) -> None:
    table = kb.explain_all("[?x, rdf:type, ub:Person]", deep=True).to_arrow()
    proved = set(table.column("fact").to_pylist())
    bodies = {fact for body in table.column("body").to_pylist() for fact in body}
    assert bodies <= proved
    assert len(proved) > 1000
