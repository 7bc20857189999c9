"""Helper relations of rule sets and compiled ontologies are stored, but shown only on request."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from tidelog import rulesets
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.terms import is_helper

FACTS = """
    [couple, owl:intersectionOf, l1] . [l1, rdf:first, person] . [l1, rdf:rest, l2] .
    [l2, rdf:first, married] . [l2, rdf:rest, rdf:nil] .
    [ann, rdf:type, person] . [ann, rdf:type, married] .
"""
HELPER = "urn:tidelog:ruleset:all"
DERIVED = "[ann, rdf:type, couple]"


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    kb = tidelog.open(tmp_path / "x.kb")
    kb.apply(add_rules=rulesets.OWL2RL)
    kb.apply(add=FACTS)
    return kb


def test_nothing_that_is_shown_has_a_helper(kb: KnowledgeBase, tmp_path: Path) -> None:
    preview = kb.preview(remove="[ann, rdf:type, married] .")
    change = kb.apply(remove="[ann, rdf:type, married] .", add="[bob, rdf:type, person] . [bob, rdf:type, married] .")
    difference = kb.diff(1, 3)
    shown = [preview.removed, preview.added, change.added, change.removed, difference.added, difference.removed]
    for facts in [*shown, kb.all_facts(), kb.all_facts("derived")]:
        assert not any(map(is_helper, facts.relations()))
        assert "urn:tidelog" not in str(facts)
        assert len(facts) == len(list(facts)) == len(facts.asserted) == sum(facts.relations().values())
    assert not any(map(is_helper, kb.status().relations))
    written = kb.export(tmp_path / "out", format="csv")
    assert not any(is_helper(each.predicate) for each in written)
    with pytest.raises(tidelog.errors.UsageError, match=r"there are: triple$"):
        kb.export(tmp_path / "more", format="csv", relations=["nothing"])


def test_helpers_are_shown_on_request(kb: KnowledgeBase, tmp_path: Path) -> None:
    change = kb.apply(remove="[ann, rdf:type, married] .")
    assert sorted(change.removed.of(HELPER)) == [(HELPER, "l1", "ann")]
    assert (HELPER, "l1", "ann") in list(change.removed.with_helpers())
    assert [each.predicate for each in kb.export(tmp_path / "out.csv", relations=["urn:tidelog:ruleset:next"])] == [
        "urn:tidelog:ruleset:next"
    ]


def test_counts_agree(kb: KnowledgeBase) -> None:
    change = kb.apply(remove="[ann, rdf:type, married] .")
    *_, before, after = kb.versions()
    status = kb.status()
    assert status.facts == len(kb.all_facts()) == after.facts == sum(each.facts for each in status.relations.values())
    assert (after.added, after.removed) == (len(change.added), len(change.removed))
    assert after.facts == before.facts + after.added - after.removed
    assert len(kb._state.I) > status.facts


@pytest.mark.parametrize("limit", [None, 3])
def test_a_proof_passes_over_helpers(kb: KnowledgeBase, limit: int | None) -> None:
    found = kb.explain(DERIVED, limit)
    for text in (found.tree(), found.to_html(), found.to_dot(), found.to_json()):
        assert "urn:tidelog" not in text
    assert {f"{fact} ." for fact in found.facts()} == {
        line.strip() + " ." for line in FACTS.split(" .") if line.strip()
    }
    assert HELPER in {node.fact.predicate for node in kb.explain(DERIVED, helpers=True).proof.nodes}


def test_why_removed_passes_over_helpers(kb: KnowledgeBase) -> None:
    kb.apply(remove="[ann, rdf:type, married] .")
    why = kb.why_removed(DERIVED)
    assert "urn:tidelog" not in str(why)
    assert why.lost_facts() == ["[ann, rdf:type, married]"]
    assert "[ann, rdf:type, married]  explicit  <- no longer explicit" in str(why)


def test_why_kept_passes_over_helpers(kb: KnowledgeBase) -> None:
    kb.apply(
        add="""
            [uncle, owl:propertyChainAxiom, m1] . [m1, rdf:first, parent] . [m1, rdf:rest, m2] .
            [m2, rdf:first, brother] . [m2, rdf:rest, rdf:nil] . [ann, parent, bob] . [bob, brother, cid] .
        """
    )
    kb.apply(add="[ann, uncle, cid] .", remove="[bob, brother, cid] .")
    (lost,) = kb.why_kept("[ann, uncle, cid]").lost_supports()
    assert lost.startswith("rule prp-spo2: ")
    assert lost.endswith("  <- [bob, brother, cid] is gone")
    assert "use:" not in lost


def test_a_compiled_ontology_has_helpers_too(tmp_path: Path) -> None:
    unions = " ".join(f"[ owl:unionOf ( :a{i} :b{i} ) ]" for i in range(5))
    path = tmp_path / "o.ttl"
    path.write_text(
        "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        f"[ owl:intersectionOf ( {unions} ) ] rdfs:subClassOf :c ."
    )
    kb = tidelog.open()
    kb.apply(add_rules=tidelog.ontology(path))
    change = kb.apply(add=" ".join(f"[x, rdf:type, <http://e/a{i}>] ." for i in range(5)))
    assert set(change.added.relations()) == {"triple"}
    assert len(change.added.with_helpers()) == 11
    assert "owl-" not in str(kb.explain("[x, rdf:type, <http://e/c>]")).partition("\n\n")[0]
