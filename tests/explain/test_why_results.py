"""What changes took, on random histories on disk, against recomputation."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import tidelog
from tests.explain.naive import Naive
from tests.explain.worlds import some
from tests.oracle.histories import State, random_history
from tests.reference.checking import check
from tidelog.explain.proof import Proof
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.terms import Fact

CAUSES = ("no longer explicit", "the rule was removed", "there is ", "the aggregate gives something else now")


def check_removed(kb: KnowledgeBase, fact: Fact, version: int, old: State, new: State) -> None:
    """The proof was right before; what it says is gone is gone; something is."""
    why = kb.why_removed(fact, version)
    proof = why.explanation.proof
    assert check(Proof(proof.root), old.rules, old.facts, old.model) == []
    assert set(why.lost) == set(proof.leaves()) - new.facts
    gone = {rule.key for rule in old.rules} - {rule.key for rule in new.rules}
    assert {r.key for r in why.lost_rules} == {n.rule.key for n in proof.rules()} & gone
    marked = {node.fact for node in proof.marks}
    assert {n.fact for n in proof.nodes} - new.model <= marked
    assert any(mark.startswith(CAUSES) for mark in proof.marks.values())
    if not any(mark.startswith(CAUSES[2:]) for mark in proof.marks.values()):
        assert why.lost or why.lost_rules


def lost_steps(fact: Fact, old: Naive, new: Naive) -> int:
    """How many steps to a fact are no longer there. An aggregate that gives the same is the same step."""
    had, has = ([(i.rule, i.premises) for i in n.instances if i.head == fact] for n in (old, new))
    kept = {(rule.key, () if rule.aggregate else facts) for rule, facts in has}
    steps = sum((rule.key, () if rule.aggregate else facts) not in kept for rule, facts in had)
    return steps + (fact in old.E and fact not in new.E)


def check_kept(kb: KnowledgeBase, random: Random, version: int, old: Naive, new: Naive) -> int:
    """The proof is right after the change; the steps lost are those that are no longer there."""
    touched = {i.head for i in old.instances - new.instances} | (old.E - new.E)
    chosen = some(random, touched & new.I, 2)
    for fact in chosen:
        why = kb.why_kept(fact, version)
        assert check(why.explanation.proof, new.rules, new.E, new.I) == []
        assert len(why.lost) == lost_steps(fact, old, new)
    return len(chosen)


def check_history(seed: int, path: Path) -> tuple[int, int]:
    history, random = random_history(seed), Random(seed)
    removed = kept = 0
    known = [Naive(state.rules, state.facts, state.model) for state in history.states]
    with tidelog.open(path) as kb:
        kb.apply(add=list(history.states[0].facts), add_rules=history.states[0].rules)
        versions: dict[int, int] = {}  # the number of the state after each version; a change without effect makes none
        for number, step in enumerate(history.steps, 1):
            made = kb.apply(list(step.add), list(step.remove), step.add_rules, step.remove_rules)
            versions.setdefault(made.version, number)
        versions.pop(1, None)
        for version, number in versions.items():
            old, new = history.states[number - 1 : number + 1]
            for fact in some(random, old.model - new.model, 2):
                check_removed(kb, fact, version, old, new)
                removed += 1
            kept += check_kept(kb, random, version, *known[number - 1 : number + 1])
    return removed, kept


def test_random_histories(tmp_path: Path) -> None:
    found = [check_history(seed, tmp_path / f"{seed}.kb") for seed in range(6)]
    assert sum(removed for removed, _ in found) > 30
    assert sum(kept for _, kept in found) > 25


@pytest.mark.usefixtures("long_tier")
def test_many_more_histories(tmp_path: Path) -> None:
    for seed in range(10, 150):
        check_history(seed, tmp_path / f"{seed}.kb")


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    kb = tidelog.open(tmp_path / "x.kb")
    kb.apply(add="p(a) . p(b) .", add_rules="q(?x) :- p(?x), ~r(?x) .")
    kb.apply(add="r(a) .")
    return kb


def test_a_negated_atom_that_is_there_now(kb: KnowledgeBase) -> None:
    why = kb.why_removed("q(a)")
    assert list(why.explanation.proof.marks.values()) == ["there is r(a) now"]
    assert (why.lost_facts(), why.lost_rules) == ([], ())
    assert "q(a) was removed by version 2" in why.to_html()


WRONG = [
    ("why_removed", "q(b)", None, "still holds in version 2; why_kept says why"),
    ("why_removed", "q(c)", None, "did not hold before version 2 either"),
    ("why_removed", "q(a)", 3, "there is no version 3"),
    ("why_removed", "q(a)", 0, "there is no version 0"),
    ("why_kept", "q(a)", None, "was removed by version 2; why_removed says why"),
]


@pytest.mark.parametrize(("method", "fact", "version", "message"), WRONG)
def test_wrong_questions(kb: KnowledgeBase, method: str, fact: str, version: int | None, message: str) -> None:
    with pytest.raises(tidelog.UsageError, match=message):
        getattr(kb, method)(fact, version)


@pytest.mark.parametrize("method", ["why_removed", "why_kept"])
def test_only_on_disk(method: str) -> None:
    with pytest.raises(tidelog.UsageError, match="only a knowledge base on disk keeps its past"):
        getattr(tidelog.open(), method)("p(a)")
