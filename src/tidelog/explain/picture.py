"""A proof as a picture: SVG, with the fact on the left and its premises on the right.

A fact that is used twice is drawn once. All colours but that of remarks are the colour of the text around the picture,
so it suits light and dark pages. Screen readers get the proof as text.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import accumulate

from tidelog.explain.proof import Proof, ProofNode
from tidelog.explain.render import PrefixMap, check_lines, node_line, tree

_LINE, _CHARACTER = 18, 7.3  # pixels: the height of a line, the width of a character
_MARGIN, _BETWEEN = 10, 44  # pixels: around the texts of a box, between columns
_LONGEST, _CHECKS = 52, 3  # characters of a text, and checks of a step, that are drawn
_STYLE = (
    ".tidelog-picture{overflow-x:auto}.tidelog-picture text{font:12px monospace;fill:currentColor}"
    ".tidelog-picture .why{opacity:.65}.tidelog-picture .fact{font-weight:bold}.tidelog-picture path{fill:none;"
    "stroke:currentColor;opacity:.5}.tidelog-picture rect{fill:currentColor;fill-opacity:.05;stroke:currentColor;"
    "stroke-opacity:.5}.tidelog-picture .leaf rect{fill-opacity:.15}.tidelog-picture .mark rect{stroke:#d33;"
    "stroke-opacity:1}.tidelog-picture .mark .why{fill:#d33;opacity:1}"
)


@dataclass(frozen=True)
class _Box:
    """What is drawn for a node: its lines, and its place."""

    node: ProofNode
    lines: list[str]
    x: float
    y: float
    width: float

    @property
    def height(self) -> float:
        return len(self.lines) * _LINE + _MARGIN

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


def as_svg(proof: Proof, prefixes: PrefixMap) -> str:
    """The picture of one proof as an SVG element."""
    boxes = _boxes(proof, prefixes)
    width = max(box.x + box.width for box in boxes.values()) + 1
    height = max(box.y + box.height for box in boxes.values()) + 1
    title = escape(f"Proof of {node_line(proof.root, proof, prefixes).text}", quote=True)
    arrows = (_arrow(boxes[premise], box) for box in boxes.values() for premise in box.node.premises)
    drawn = (_drawn(box, proof, prefixes) for box in boxes.values())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{title}" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="-1 -1 {width + 1:.0f} {height + 1:.0f}"><title>{title}</title>'
        f"<desc>{escape(tree(proof, prefixes))}</desc>{''.join(dict.fromkeys(arrows))}{''.join(drawn)}</svg>"
    )


def pictures(proofs: list[Proof], prefixes: PrefixMap) -> str:
    """The pictures of proofs as a self-contained HTML fragment."""
    drawn = "".join(as_svg(proof, prefixes) for proof in proofs)
    return f'<div class="tidelog-picture"><style>{_STYLE}</style>{drawn}</div>'


def _boxes(proof: Proof, prefixes: PrefixMap) -> dict[ProofNode, _Box]:
    texts = {node: _texts(node, proof, prefixes) for node in proof.nodes}
    columns, rows = _columns(proof), _rows(proof)
    widths = [0.0] * (max(columns.values()) + 1)
    for node, column in columns.items():
        widths[column] = max(widths[column], max(map(len, texts[node])) * _CHARACTER + 2 * _MARGIN)
    starts = [0.0, *accumulate(width + _BETWEEN for width in widths)]
    step = max(map(len, texts.values())) * _LINE + 2 * _MARGIN
    return {
        node: _Box(node, texts[node], starts[columns[node]], rows[node] * step, widths[columns[node]])
        for node in proof.nodes
    }


def _columns(proof: Proof) -> dict[ProofNode, int]:
    """The column of each node: right of all nodes that need it."""
    columns = {proof.root: 0}
    for node in reversed(proof.bottom_up):
        for premise in node.premises:
            columns[premise] = max(columns.get(premise, 0), columns[node] + 1)
    return columns


def _rows(proof: Proof) -> dict[ProofNode, float]:
    """The row of each node: leaves below each other in the order of the text, other nodes beside their premises."""
    rows: dict[ProofNode, float] = {}
    taken: set[ProofNode] = set()
    free = 0
    for node in proof.bottom_up:
        own = [p for p in dict.fromkeys(node.premises) if p not in taken]
        taken.update(own)
        if own:
            rows[node] = sum(rows[p] for p in own) / len(own)
        else:
            rows[node], free = free, free + 1
    return {node: free - 1 - row for node, row in rows.items()}


def _texts(node: ProofNode, proof: Proof, prefixes: PrefixMap) -> list[str]:
    line, checks = node_line(node, proof, prefixes), [str(check) for check in check_lines(node, prefixes)]
    more = [f"… {len(checks) - _CHECKS} more"] if len(checks) > _CHECKS else []
    texts = [line.text, line.reason, line.mark, *checks[:_CHECKS], *more]
    return [text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in texts if text]


def _arrow(premise: _Box, conclusion: _Box) -> str:
    """A curve from the left side of a premise to the right side of its conclusion."""
    start, end = premise.x, conclusion.x + conclusion.width
    bend = (start + end) / 2
    return (
        f'<path d="M{start:.0f} {premise.middle:.0f}C{bend:.0f} {premise.middle:.0f} {bend:.0f} '
        f'{conclusion.middle:.0f} {end:.0f} {conclusion.middle:.0f}"/>'
    )


def _drawn(box: _Box, proof: Proof, prefixes: PrefixMap) -> str:
    kind = "mark" if box.node in proof.marks else "step" if box.node.premises else "leaf"
    lines = "".join(
        f'<text class="{"why" if number else "fact"}" x="{box.x + _MARGIN:.0f}" '
        f'y="{box.y + (number + 1) * _LINE:.0f}">{escape(text)}</text>'
        for number, text in enumerate(box.lines)
    )
    whole = escape(str(node_line(box.node, proof, prefixes)))
    place = f'x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{box.height:.0f}" rx="4"'
    return f'<g class="{kind}"><title>{whole}</title><rect {place}/>{lines}</g>'
