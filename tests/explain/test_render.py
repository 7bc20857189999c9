"""What explanations look like: texts as they are printed, and hostile names that stay names in every form."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from textwrap import dedent

import pytest

import tidelog
from tests.reference.checking import check
from tidelog.explain.explained_version import NumberedRule
from tidelog.explain.proof import Proof, ProofNode
from tidelog.explain.render import Explanation
from tidelog.model.terms import IRI, Fact, String, integer, string
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.syntax import Variable

CASES = Path(__file__).with_name("trees.txt").read_text(encoding="utf-8")


def cases() -> list[tuple[str, str, str]]:
    """Program, question and tree, between lines of dashes."""
    found = []
    for part in re.split(r"^-{5,}\n", CASES, flags=re.MULTILINE):
        program, _, rest = part.partition("\n? ")
        question, _, shown = rest.partition("\n")
        found.append((program, question, dedent(shown).strip()))
    return found


@pytest.mark.parametrize(("program", "question", "shown"), cases(), ids=lambda text: text[:30])
def test_trees(program: str, question: str, shown: str, tmp_path: Path) -> None:
    (tmp_path / "a.rls").write_text(program)
    kb = tidelog.open()
    kb.load(tmp_path / "a.rls")
    fact, _, limit = question.partition(" ? ")
    assert kb.explain(fact, all_proofs=int(limit) if limit else None).tree() == shown


def family() -> tidelog.KnowledgeBase:
    kb = tidelog.open()
    kb.apply(
        add="parent(ann, bob) . parent(bob, cid) .",
        add_rules="""#[name("base")] ancestor(?x, ?y) :- parent(?x, ?y) .
                     ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z), ?x != ?z, ~dead(?y, ?w) .""",
    )
    return kb


def test_json() -> None:
    (proof,) = json.loads(family().explain("ancestor(ann, cid)").to_json())["proofs"]
    assert (proof["fact"], proof["height"], proof["size"]) == ("ancestor(ann, cid)", 2, 2)
    first = proof["steps"][0]
    assert first == {
        "id": 0,
        "fact": "ancestor(ann, cid)",
        "kind": "rule",
        "rule": 2,
        "binding": {"x": "ann", "z": "cid", "y": "bob"},
        "premises": [1, 3],
        "checks": ["ann != cid", "not dead(bob, ?w)"],
    }
    assert [step["kind"] for step in proof["steps"]] == ["rule", "rule", "explicit", "explicit"]
    assert [rule["name"] for rule in proof["rules"]] == ["base", None]


def test_the_parts() -> None:
    found = family().explain("ancestor(ann, cid)")
    assert found.facts() == ["parent(ann, bob)", "parent(bob, cid)"]
    assert [rule.name for rule in found.rules()] == ["base", None]
    assert (found.depth, len(found), len(list(found))) == (2, 1, 1)


def test_dot() -> None:
    lines = family().explain("ancestor(ann, bob)").to_dot().splitlines()
    assert lines[0] == "digraph proof {"
    assert '  p0n0 [label="ancestor(ann, bob)\\nrule base"];' in lines
    assert "  p0n1 -> p0n0;" in lines
    assert lines[-1] == "}"


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</details></div><b>",
    'a\\"]; evil [label="x',
    "line\nbreak & &amp; 'quote'",
]


PICTURE_TAGS = {"svg", "title", "desc", "path", "g", "rect", "text"}
PICTURE_ATTRIBUTES = {"xmlns", "role", "aria-label", "viewbox", "width", "height", "d", "x", "y", "rx"}


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {"class", "open", *PICTURE_ATTRIBUTES}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_names(name: str, tmp_path: Path) -> None:
    kb = tidelog.open(tmp_path / "x.kb")
    kb.apply(add={"p": [(String(name),), (IRI(f"x:{name}"),)]}, add_rules="q(?x) :- p(?x) . q(?x) :- s(?x) .")
    kb.apply(remove={"p": [(String(name),)]}, add={"s": [(String(name),)]})
    fact = ("q", String(name))
    shown = [
        kb.explain(fact)._repr_html_(),
        kb.why_kept(fact)._repr_html_(),
        kb.why_not(("r", String(name)))._repr_html_(),
    ]
    for html in shown:
        assert Tags(html).tags <= {"div", "style", "details", "summary", "b", "span", "pre", "ul", "li", *PICTURE_TAGS}
    assert string(name) in "".join(Tags(shown[0]).texts)
    labels = re.findall(r'label="((?:[^"\\]|\\.)*)"[,\]]', kb.explain(fact).to_dot())
    assert len(labels) == 2
    json.loads(kb.explain(fact).to_json())


WRONG = [
    ("p(a), p(b)", tidelog.ParseError, "expected"),
    ("p(a) . p(b) .", tidelog.UsageError, "one fact is expected, not 2"),
    ("p(?x)", tidelog.ParseError, "variable"),
    ("p(b)", tidelog.UsageError, "p\\(b\\) does not hold, so it has no proof; why_not says what is missing"),
    (7, tidelog.UsageError, "cannot read a fact from int"),
]


@pytest.mark.parametrize(("fact", "error", "message"), WRONG)
def test_wrong_facts(fact: object, error: type[Exception], message: str) -> None:
    kb = tidelog.open()
    kb.apply(add="p(a) .")
    with pytest.raises(error, match=message):
        kb.explain(fact)


WRITTEN = [
    "[ann, rdf:type, ub:Person]",
    "ex:ann a ub:Person",
    "<http://ex.org/ann> rdf:type <http://ub.org/Person> .",
    "triple(ex:ann, rdf:type, ub:Person)",
    (
        "triple",
        IRI("http://ex.org/ann"),
        IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
        IRI("http://ub.org/Person"),
    ),
]


@pytest.mark.parametrize("fact", WRITTEN[1:])
def test_ways_to_write_a_triple(fact: object, tmp_path: Path) -> None:
    (tmp_path / "a.rls").write_text(
        "@prefix ex: <http://ex.org/> . @prefix ub: <http://ub.org/> . [ex:ann, rdf:type, ub:Person] ."
    )
    kb = tidelog.open()
    kb.load(tmp_path / "a.rls")
    assert kb.explain(fact).tree() == "[ex:ann, rdf:type, ub:Person]  explicit"


@pytest.mark.parametrize("limit", [0, -1])
def test_no_proofs_asked_for(limit: int) -> None:
    with pytest.raises(tidelog.UsageError, match="all_proofs"):
        tidelog.open().explain("p(a)", all_proofs=limit)


def test_a_deep_proof() -> None:
    kb = tidelog.open()
    kb.apply(add={"e": [(i, i + 1) for i in range(200)]} | {"r": [(0,)]}, add_rules="r(?y) :- r(?x), e(?x, ?y) .")
    found = kb.explain("r(200)")
    assert (found.depth, found.proof.size, len(found.facts())) == (200, 200, 201)


def test_forms_of_a_proof_deeper_than_python_recurses() -> None:
    rule = NumberedRule(1, *parse_rules("r(?y) :- r(?x), e(?x, ?y) ."))
    node = ProofNode(Fact("r", (integer(0),)), "explicit")
    for i in range(1200):
        edge = ProofNode(Fact("e", (integer(i), integer(i + 1))), "explicit")
        binding = {Variable("x"): integer(i), Variable("y"): integer(i + 1)}
        node = ProofNode(Fact("r", (integer(i + 1),)), "rule", rule, binding, (node, edge))
    found = Explanation((Proof(node),))
    assert (found.depth, found.proof.size) == (1200, 1200)
    assert found.tree().count("\n") == 2402
    assert found.to_html().count("<details") == found.to_html().count("</details>") == 1200
    assert len(found.to_dict()["proofs"][0]["steps"]) == 2401  # type: ignore[index]
    assert found.to_dot().count("->") == 2400
    assert check(found.proof, [rule.rule], set(found.proof.leaves()), ()) == []


def test_more_than_may_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    kb = tidelog.open()
    kb.apply(
        add={"e": [(i, i + 1) for i in range(50)]}, add_rules="t(?x,?y) :- e(?x,?y) . t(?x,?z) :- t(?x,?y), t(?y,?z) ."
    )
    monkeypatch.setattr("tidelog.explain.proof_search.MOST_STEPS", 100)
    with pytest.raises(tidelog.LimitError, match="more than 100 steps"):
        kb.explain("t(0, 50)", all_proofs=1000)
    with pytest.raises(tidelog.LimitError, match="more than 10 facts"):
        kb.explain("t(0, 50)", most=10)


def test_the_prefixes_of_loaded_files_and_well_known_ones_are_used(tmp_path: Path) -> None:
    path = tmp_path / "pets.ttl"
    path.write_text("@prefix pet: <http://example.org/pets#> . pet:rex a pet:Dog ; pet:name 'Rex' .")
    kb = tidelog.open()
    kb.load(path)
    kb.apply(add_rules="[?x, rdf:type, pet:Animal] :- [?x, rdf:type, pet:Dog] .")
    found = kb.explain("[pet:rex, rdf:type, pet:Animal]")
    shown = (found.tree(), found.to_svg(), found.to_html(), found.to_dot(), found.to_json())
    assert all("pet:rex" in text and "example.org/pets" not in text for text in shown)
    assert "[pet:rex, rdf:type, pet:Cat] does not hold" in str(kb.why_not("[pet:rex, rdf:type, pet:Cat]"))
