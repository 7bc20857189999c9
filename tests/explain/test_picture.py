"""Proofs as pictures: everything is drawn once, nothing overlaps, and names from data are escaped."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import tidelog
from tests.explain.worlds import random_world

SVG = "{http://www.w3.org/2000/svg}"
FAMILY = """
    ancestor(?x, ?y) :- parent(?x, ?y) .
    ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
"""


def picture(found: tidelog.Explanation) -> ElementTree.Element:
    (svg,) = ElementTree.fromstring(found.to_svg()).iter(f"{SVG}svg")
    return svg


def check_picture(found: tidelog.Explanation) -> None:
    """One box for each fact, one arrow for each use of one by another, boxes side by side inside of the picture."""
    svg, nodes = picture(found), found.proof.nodes
    rects = [{k: float(v) for k, v in rect.items() if k != "rx"} for rect in svg.iter(f"{SVG}rect")]
    assert len(rects) == len(nodes)
    assert len(list(svg.iter(f"{SVG}path"))) == len({(n, p) for n in nodes for p in n.premises})
    width, height = float(svg.attrib["width"]), float(svg.attrib["height"])
    for i, one in enumerate(rects):
        assert 0 <= one["x"] <= one["x"] + one["width"] <= width
        assert 0 <= one["y"] <= one["y"] + one["height"] <= height
        for other in rects[:i]:
            beside = one["x"] + one["width"] < other["x"] or other["x"] + other["width"] < one["x"]
            below = one["y"] + one["height"] < other["y"] or other["y"] + other["height"] < one["y"]
            assert beside or below


@pytest.mark.parametrize("seed", range(8))
def test_random_proofs(seed: int) -> None:
    with random_world(seed) as (kb, naive, random):
        derived = sorted(naive.I - naive.E)
        for fact in random.sample(derived, min(5, len(derived))):
            check_picture(kb.explain(fact))


def test_a_picture_has_text_for_those_who_do_not_see_it() -> None:
    kb = tidelog.open()
    kb.apply(add="parent(ann, bob) . parent(bob, cid) .", add_rules=FAMILY)
    found = kb.explain("ancestor(ann, cid)")
    check_picture(found)
    svg = picture(found)
    assert svg.attrib["role"] == "img"
    assert svg.attrib["aria-label"] == "Proof of ancestor(ann, cid)"
    assert svg.findtext(f"{SVG}desc") == found.tree()
    assert found._repr_html_().startswith(found.to_svg())
    assert found._repr_html_().endswith(found.to_html())


def test_names_are_escaped_and_long_ones_are_cut() -> None:
    kb = tidelog.open()
    kb.apply(add={"p": [("<script>alert(1)</script>" + "x" * 100,)]}, add_rules="q(?x) :- p(?x) .")
    (row,) = kb.facts("q")
    found = kb.explain(("q", *row))
    check_picture(found)
    assert "<script" not in found.to_svg()
    assert max(len(text.text or "") for text in picture(found).iter(f"{SVG}text")) == 52


def test_a_large_proof_is_not_drawn_in_a_notebook() -> None:
    kb = tidelog.open()
    kb.apply(add={"parent": [(f"n{i}", f"n{i + 1}") for i in range(60)]}, add_rules=FAMILY)
    found = kb.explain("ancestor(n0, n60)")
    assert "<svg" not in found._repr_html_()
    check_picture(found)
    assert "<svg" not in kb.explain("parent(n0, n1)")._repr_html_()
