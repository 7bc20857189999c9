"""The benchmark: a small result as a page, and a wrong proof ends the run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import tidelog
from bench import explain
from bench.report import BEGIN, END
from tidelog.explain.proof import Proof, ProofNode
from tidelog.explain.render import Explanation
from tidelog.model.terms import Fact, iri


@pytest.fixture
def kb() -> tidelog.KnowledgeBase:
    kb = tidelog.open()
    kb.apply(
        add={"triple": [(f"s{i}", "knows", f"s{i + 1}") for i in range(30)]},
        add_rules="[?x, reaches, ?y] :- [?x, knows, ?y] . [?x, reaches, ?z] :- [?x, reaches, ?y], [?y, knows, ?z] .",
    )
    return kb


def test_the_page(kb: tidelog.KnowledgeBase, tmp_path: Path) -> None:
    facts = sorted(kb._state.I - kb._state.E)[:15]
    machine = dict.fromkeys(("commit", "cpu", "cores", "memory_gb", "system", "python", "numpy", "load_average"), "?")
    result = {
        "machine": machine,
        "versions": {"tidelog": "0"},
        "universities": 1,
        "explicit": 30,
        "derived": 465,
        "proofs": explain._proofs(kb, facts),
        "tables": {"all facts": explain._table(kb, "[?x, ?p, ?y]")},
    }
    assert result["proofs"]["checked"] == sum(result["proofs"]["heights"].values()) == 15  # type: ignore[index]
    (tmp_path / f"{explain.PAGE}.md").write_text(f"before\n{BEGIN}\n{END}\nafter\n")
    explain.write(result, tmp_path, "explain-full")
    explain.publish(tmp_path / "explain-full.json", tmp_path)
    text = (tmp_path / f"{explain.PAGE}.md").read_text()
    assert "15 proofs checked, none was wrong" in text
    assert "| all facts | 495 |" in text
    assert json.loads((tmp_path / f"{explain.PAGE}.json").read_text()) == result


def test_a_wrong_proof_ends_the_run(kb: tidelog.KnowledgeBase) -> None:
    fact = Fact("triple", (iri("s0"), iri("reaches"), iri("s2")))
    found = kb.explain(fact)
    explain._check(kb, [fact], [found])
    wrong = Explanation((Proof(replace(found.proof.root, premises=(ProofNode(fact, "explicit"),))),))
    with pytest.raises(SystemExit, match="wrong proof"):
        explain._check(kb, [fact], [wrong])
