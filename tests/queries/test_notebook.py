"""What a notebook shows is well formed, escaped and short."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import tidelog

ATTACK = "<script>alert('x')</script>&amp;"


def read(shown: object) -> ElementTree.Element:
    """The display as a tree; it is well-formed XML."""
    html = shown._repr_html_()  # type: ignore[attr-defined]
    assert "<script" not in html
    return ElementTree.fromstring(f"<body>{html}</body>")


def cells(tree: ElementTree.Element, tag: str = "td") -> list[str]:
    return ["".join(cell.itertext()) for cell in tree.iter(tag)]


@pytest.fixture
def kb(tmp_path: Path) -> tidelog.KnowledgeBase:
    kb = tidelog.open(tmp_path / "a.kb")
    kb.apply(add={"p": [(ATTACK, n) for n in range(25)]}, message=ATTACK)
    kb.apply(add_rules=f'q(?n) :- p("{ATTACK}", ?n), ?n > 22 .', add="[ann, name, bob] .", remove={"p": [(ATTACK, 1)]})
    return kb


def test_answers(kb: tidelog.KnowledgeBase) -> None:
    tree = read(kb.query("p(?text, ?n)"))
    assert cells(tree, "th") == ["text", "n"]
    assert cells(tree) == [text for n in (0, *range(2, 21)) for text in (f'"{ATTACK}"', str(n))] + ["… 4 more"]
    assert cells(read(kb.query("p(?text, ?n)")[:2])) == [f'"{ATTACK}"', "0", f'"{ATTACK}"', "2"]
    assert cells(read(kb.sparql("SELECT ?x ?none { ?x ?y ?z }"))) == ["ann", ""]
    assert read(kb.query("p(?x, ?y), ?y > 99")).find(".//th") is not None
    assert cells(read(kb.query("q(23)"))) == ["true"]
    assert cells(read(kb.query("q(1)"))) == ["false"]


def lines(tree: ElementTree.Element) -> list[str]:
    return ["".join(line.itertext()) for line in tree.iter("div")]


def test_facts(kb: tidelog.KnowledgeBase) -> None:
    shown = lines(read(kb.all_facts()))
    assert len(shown) == 21
    assert shown[-1] == "… 7 more"
    assert lines(read(kb.all_facts("derived"))) == ["q(23) .", "q(24) ."]


def test_a_change_is_a_diff(kb: tidelog.KnowledgeBase) -> None:
    change = kb.apply(add="p(new, 99) .", remove=f'p("{ATTACK}", 24) .')
    tree = read(change)
    assert lines(tree) == [str(change), f'− p("{ATTACK}", 24) .', "− q(24) .  % derived", "+ p(new, 99) ."]
    styles = [line.get("style", "") for line in tree.iter("div")][1:]
    colours = [re.search("solid (#[0-9a-f]+)", style) for style in styles]
    assert [colour and colour[1] for colour in colours] == ["#e5534b", "#e5534b", "#2da44e"]


def test_a_preview_and_a_difference_show_rules(kb: tidelog.KnowledgeBase) -> None:
    preview = kb.preview(add_rules=f'r("{ATTACK}") :- q(?x) .')
    assert lines(read(preview))[1:] == [f'+ r("{ATTACK}") :- q(?x) .', f'+ r("{ATTACK}") .  % derived']
    shown = lines(read(kb.diff(1, 2)))
    assert shown[0] == "from version 1 to version 2: +3 -1 facts"
    assert shown[1] == f'+ q(?n) :- p("{ATTACK}", ?n), ?n > 22 .'
    assert sorted(shown[2:]) == [
        "+ [ann, name, bob] .",
        "+ q(23) .  % derived",
        "+ q(24) .  % derived",
        f'− p("{ATTACK}", 1) .',
    ]


def test_versions(kb: tidelog.KnowledgeBase) -> None:
    tree = read(kb.versions())
    assert cells(tree, "th")[:4] == ["version", "time (UTC)", "added", "removed"]
    assert cells(tree)[0] == "2"
    assert ATTACK in cells(tree)
    assert kb.versions() == list(kb.versions())
