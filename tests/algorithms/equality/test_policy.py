"""Equality as a property of a knowledge base: what is stored, kept on disk, refused, and not looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog

FAMILY = "[ann, owl:sameAs, anna] . [anna, owl:sameAs, nan] . knows(ann, bob) ."


def test_one_fact_stands_for_all_names() -> None:
    kb = tidelog.open(equality="rewriting")
    assert len(kb.apply(add=FAMILY).added) == 9 + 3
    assert kb.versions()[-1].facts == 4  # two representatives, one equality, one acquaintance
    assert kb.apply(remove="[ann, owl:sameAs, anna] .", algorithm="dred").work.counters["split"] == 1
    assert sorted(kb.facts("knows")) == [("ann", "bob")]


def test_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "family.kb"
    with tidelog.open(path, equality="rewriting") as kb:
        kb.apply(add=FAMILY)
    with tidelog.open(path) as kb:
        kb.apply(remove="[anna, owl:sameAs, nan] .")
        assert sorted(kb.facts("knows")) == [("ann", "bob"), ("anna", "bob")]
        assert sorted(kb.at(1).facts("knows")) == [("ann", "bob"), ("anna", "bob"), ("nan", "bob")]
        assert list(kb.diff(1, 2).removed.of("knows")) == [("knows", "nan", "bob")]
        assert kb.verify(recompute=True).ok


REFUSED = [
    ("n(?x, #count(?y)) :- knows(?x, ?y) .", "an aggregate counts names"),
    ("[?x, owl:sameAs, ?y] :- knows(?x, ?y), ~likes(?x, ?y) .", "it must not negate"),
    ("s(?x) :- knows(?x, ?y), ~likes(?x, ?y) . [?x, owl:sameAs, bob] :- s(?x) .", "it must not negate"),
    (
        "p(?a) :- q(?a, ?b, ?c, ?d, ?e, ?f, ?g), ?a + ?b + ?c + ?d + ?e + ?f + ?g > 1 .",
        "more than 6 variables are computed with",
    ),
]


@pytest.mark.parametrize(("rules", "message"), REFUSED)
def test_what_would_not_be_exact_is_refused(rules: str, message: str) -> None:
    kb = tidelog.open(equality="rewriting")
    kb.apply(add=FAMILY)
    with pytest.raises(tidelog.RuleError, match=message):
        kb.apply(add_rules=rules)
    assert (kb.version, kb.rules) == (1, ())


def test_constraints_hold_under_every_name() -> None:
    kb = tidelog.open(equality="rewriting")
    kb.apply(add=FAMILY, add_rules=":- knows(nan, cid) . :- [?x, owl:sameAs, ?y], [?x, owl:differentFrom, ?y] .")
    for refused in ("knows(anna, cid) .", "[nan, owl:differentFrom, ann] ."):
        with pytest.raises(tidelog.ConstraintError):
            kb.apply(add=refused)
    assert kb.version == 1


def test_the_choice_stays(tmp_path: Path) -> None:
    with pytest.raises(tidelog.UsageError, match="choose one of: off, rewriting"):
        tidelog.open(equality="on")
    with tidelog.open(tmp_path / "x.kb") as kb:
        kb.apply(add=FAMILY)
        with pytest.raises(tidelog.UsageError, match="was made with equality='off'"):
            kb.apply(options={"equality": "rewriting"})
    with pytest.raises(tidelog.UsageError, match="was made with equality='off'"):
        tidelog.open(tmp_path / "x.kb", equality="rewriting")


def cliques(count: int) -> tidelog.KnowledgeBase:
    """Cliques of three that follow from shared addresses, and facts about them."""
    kb = tidelog.open(equality="rewriting")
    people = [(f"p{i}", f"m{i // 3}") for i in range(3 * count)]
    kb.apply(
        add={"mail": people, "knows": [(p, "bob") for p, _ in people]},
        add_rules="[?x, owl:sameAs, ?y] :- mail(?x, ?m), mail(?y, ?m) . known(?y) :- knows(?x, ?y) .",
    )
    return kb


@pytest.mark.parametrize("algorithm", ["bf", "dred"])
@pytest.mark.parametrize("fact", ["mail(p0, m0) .", "knows(p0, bob) ."])
def test_other_cliques_are_not_looked_at(fact: str, algorithm: str) -> None:
    few, many = (cliques(n).apply(remove=fact, algorithm=algorithm).work for n in (2, 20))
    assert (few.derivations, few.counters) == (many.derivations, many.counters)


def test_what_no_equality_depends_on_puts_nothing_in_doubt() -> None:
    kb = cliques(2)
    assert not kb.apply(remove="knows(p0, bob) . knows(p1, bob) .").work.counters["doubted"]
    assert kb.apply(remove="mail(p0, m0) .").work.counters["doubted"]
