"""Proofs as JSON, HTML and Graphviz. Names come from data, so whatever they are, they are escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tidelog.explain.proof import Node, Proof
from tidelog.explain.text import Line, Prefixes, check_lines, fact_text, legend, node_line
from tidelog.rules.printer import format_rule, format_term

_STYLE = (
    ".tidelog-proof{font-family:monospace;line-height:1.5}.tidelog-proof details,.tidelog-proof div.leaf"
    "{margin-left:1.2em}.tidelog-proof .why{color:#777;margin-left:1em}.tidelog-proof .mark{color:#b00;margin-left:1em}"
)


def as_dict(proof: Proof, prefixes: Prefixes) -> dict[str, object]:
    """The proof as plain objects: steps by number, the first is the fact itself."""
    numbers = {node: i for i, node in enumerate(proof.nodes)}
    rules = proof.rules()
    return {
        "fact": fact_text(proof.fact, prefixes),
        "height": proof.height,
        "size": proof.size,
        "steps": [_step(node, proof, numbers, prefixes) for node in proof.nodes],
        "rules": [{"number": n.number, "name": n.rule.name, "text": format_rule(n.rule, prefixes)} for n in rules],
    }


def _step(node: Node, proof: Proof, numbers: dict[Node, int], prefixes: Prefixes) -> dict[str, object]:
    step: dict[str, object] = {"id": numbers[node], "fact": fact_text(node.fact, prefixes), "kind": node.kind}
    if node.numbered is not None:
        step["rule"] = node.numbered.number
    if node.binding:
        step["binding"] = {v.name: format_term(t, prefixes) for v, t in node.binding.items()}
    if node.premises:
        step["premises"] = [numbers[p] for p in node.premises]
    if node.checks:
        step["checks"] = [line.text for line in check_lines(node, prefixes)]
    if node.group is not None:
        step["matches"] = node.group.size
        step["shown"] = [{v.name: format_term(t, prefixes) for v, t in m.items()} for m in node.group.matches]
    if node.equal:
        step["equal"] = [list(pair) for pair in node.equal]
    if node in proof.marks:
        step["mark"] = proof.marks[node]
    return step


def as_html(proofs: list[Proof], prefixes: Prefixes) -> str:
    """A fragment that needs nothing else; parts of a proof can be folded."""
    parts = [f"<style>{_STYLE}</style>"]
    for proof in proofs:
        parts += [*_html(proof, prefixes), *(f"<div>{escape(line)}</div>" for line in legend(proof.rules(), prefixes))]
    return f'<div class="tidelog-proof">{"".join(parts)}</div>'


def _html(proof: Proof, prefixes: Prefixes) -> Iterator[str]:
    seen: set[Node] = set()
    waiting: list[Node | Line | str] = [proof.root]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Line):
            yield f'<div class="leaf">{_html_line(item)}</div>'
        else:
            again = item in seen and bool(item.premises)
            seen.add(item)
            line = _html_line(node_line(item, proof, prefixes, again))
            below: list[Node | Line] = [] if again else [*item.premises, *check_lines(item, prefixes)]
            yield f"<details open><summary>{line}</summary>" if below else f'<div class="leaf">{line}</div>'
            waiting += ["</details>", *reversed(below)] if below else []


def _html_line(line: Line) -> str:
    why = f'<span class="why">{escape(line.reason)}</span>' if line.reason else ""
    mark = f'<span class="mark">{escape(line.mark)}</span>' if line.mark else ""
    return f"<b>{escape(line.text)}</b>{why}{mark}"


def as_dot(proofs: list[Proof], prefixes: Prefixes) -> str:
    """A graph for Graphviz: a box for each step, arrows from premises to what they prove."""
    lines = ["digraph proof {", "  rankdir=BT;", "  node [shape=box, fontname=monospace];"]
    for number, proof in enumerate(proofs):
        names = {node: f"p{number}n{i}" for i, node in enumerate(proof.nodes)}
        for node, name in names.items():
            line = node_line(node, proof, prefixes)
            texts = [line.text, line.reason, line.mark, *(str(c) for c in check_lines(node, prefixes))]
            shape = ", style=filled, fillcolor=lightgrey" if not node.premises else ""
            colour = ", color=red" if line.mark else ""
            lines.append(f'  {name} [label="{_dot(texts)}"{shape}{colour}];')
            lines += [f"  {names[p]} -> {name};" for p in node.premises]
    return "\n".join([*lines, "}"])


def _dot(texts: list[str]) -> str:
    escaped = (t.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for t in texts if t)
    return "\\n".join(escaped)
