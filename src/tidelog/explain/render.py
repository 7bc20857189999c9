"""Explanations: proofs as text, JSON, HTML and Graphviz. Names come from data and are escaped in every format."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

from tidelog.algorithms.equality.representatives import SAME
from tidelog.explain.explained_version import NumberedRule
from tidelog.explain.proof import Proof, ProofNode
from tidelog.model.terms import Fact, is_helper
from tidelog.rules.printer import format_atom, format_literal, format_rule, format_term
from tidelog.rules.syntax import Atom, Literal, Negation, Rule

PrefixMap = Mapping[str, str]

ABOVE = "shown above"
_DRAWN = 100  # nodes of a proof that a notebook draws; a larger picture is too large to be read
EXPLICIT, AXIOM = "explicit", "an axiom of the rules"


@dataclass(frozen=True)
class ProofLine:
    """One line of a proof: a fact or a check, and why it holds."""

    text: str
    reason: str
    mark: str = ""

    def __str__(self) -> str:
        return "  ".join(part for part in (self.text, self.reason, f"<- {self.mark}" if self.mark else "") if part)


def fact_text(fact: Fact, prefixes: PrefixMap) -> str:
    return atom_text(Atom(fact.predicate, fact.args), prefixes)


def atom_text(atom: Atom, prefixes: PrefixMap) -> str:
    if atom.predicate == SAME:
        return " = ".join(format_term(term, prefixes) for term in atom.args)
    return format_atom(atom, prefixes)


def reason(node: ProofNode) -> str:
    """The reason why a node holds."""
    label = node.numbered.label if node.numbered else ""
    if node.group is not None:
        over = node.group.head_rule.rule.aggregate
        assert over is not None
        return f"{label}: #{over.function} over {node.group.size:,} matches"
    if node.kind == "names":
        return f"other names: {', '.join(f'{one} = {other}' for one, other in node.equal)}"
    return {"explicit": EXPLICIT, "axiom": f"{label}: {AXIOM}"}.get(node.kind, label)


def node_line(node: ProofNode, proof: Proof, prefixes: PrefixMap, again: bool = False) -> ProofLine:
    why = f"{reason(node)}, {ABOVE}" if again else reason(node)
    return ProofLine(fact_text(node.fact, prefixes), why, proof.marks.get(node, ""))


def check_lines(node: ProofNode, prefixes: PrefixMap) -> Iterator[ProofLine]:
    """Yield the lines of a step besides its premises."""
    for check in node.checks:
        if not (isinstance(check, Negation) and is_helper(check.atom.predicate)):
            yield check_line(check, prefixes)
    if node.group is not None and node.group.size > len(node.group.matches):
        yield ProofLine(f"… {node.group.size - len(node.group.matches):,} more matches", "")


def check_line(check: Literal, prefixes: PrefixMap) -> ProofLine:
    if isinstance(check, Negation):
        return ProofLine(f"not {atom_text(check.atom, prefixes)}", "absent")
    return ProofLine(format_literal(check, prefixes), "checked")


def tree(proof: Proof, prefixes: PrefixMap) -> str:
    """The proof as indented lines, followed by the rules it uses."""
    lines: list[str] = []
    seen: set[ProofNode] = set()
    waiting: list[tuple[str, str, ProofNode | ProofLine]] = [("", "", proof.root)]
    while waiting:
        own, below, item = waiting.pop()
        if isinstance(item, ProofLine):
            lines.append(f"{own}{item}")
            continue
        again = item in seen and bool(item.premises)
        seen.add(item)
        lines.append(f"{own}{node_line(item, proof, prefixes, again)}")
        children: list[ProofNode | ProofLine] = [] if again else [*item.premises, *check_lines(item, prefixes)]
        branches = (("└─ ", "   ") if i == len(children) else ("├─ ", "│  ") for i in range(1, len(children) + 1))
        waiting += reversed([(below + a, below + b, c) for (a, b), c in zip(branches, children, strict=True)])
    return "\n".join([*lines, *legend(proof.rules(), prefixes)])


def legend(rules: Iterable[NumberedRule], prefixes: PrefixMap) -> Iterator[str]:
    """Yield the texts of rules, after an empty line."""
    texts = [f"{n.label}: {format_rule(n.rule, prefixes)}" for n in rules]
    yield from ["", *texts] if texts else []


_STYLE = (
    ".tidelog-proof{font-family:monospace;line-height:1.5}.tidelog-proof details,.tidelog-proof div.leaf"
    "{margin-left:1.2em}.tidelog-proof .why{color:#777;margin-left:1em}.tidelog-proof .mark{color:#b00;margin-left:1em}"
)


def as_dict(proof: Proof, prefixes: PrefixMap) -> dict[str, object]:
    """The proof as plain objects. Steps are numbered; step 0 is the fact itself."""
    numbers = {node: i for i, node in enumerate(proof.nodes)}
    rules = proof.rules()
    return {
        "fact": fact_text(proof.fact, prefixes),
        "height": proof.height,
        "size": proof.size,
        "steps": [_step(node, proof, numbers, prefixes) for node in proof.nodes],
        "rules": [{"number": n.number, "name": n.rule.name, "text": format_rule(n.rule, prefixes)} for n in rules],
    }


def _step(node: ProofNode, proof: Proof, numbers: dict[ProofNode, int], prefixes: PrefixMap) -> dict[str, object]:
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


def as_html(proofs: list[Proof], prefixes: PrefixMap) -> str:
    """A self-contained HTML fragment. Parts of a proof can be collapsed."""
    parts = [f"<style>{_STYLE}</style>"]
    for proof in proofs:
        parts += [*_html(proof, prefixes), *(f"<div>{escape(line)}</div>" for line in legend(proof.rules(), prefixes))]
    return f'<div class="tidelog-proof">{"".join(parts)}</div>'


def _html(proof: Proof, prefixes: PrefixMap) -> Iterator[str]:
    seen: set[ProofNode] = set()
    waiting: list[ProofNode | ProofLine | str] = [proof.root]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, ProofLine):
            yield f'<div class="leaf">{_html_line(item)}</div>'
        else:
            again = item in seen and bool(item.premises)
            seen.add(item)
            line = _html_line(node_line(item, proof, prefixes, again))
            below: list[ProofNode | ProofLine] = [] if again else [*item.premises, *check_lines(item, prefixes)]
            yield f"<details open><summary>{line}</summary>" if below else f'<div class="leaf">{line}</div>'
            waiting += ["</details>", *reversed(below)] if below else []


def _html_line(line: ProofLine) -> str:
    why = f'<span class="why">{escape(line.reason)}</span>' if line.reason else ""
    mark = f'<span class="mark">{escape(line.mark)}</span>' if line.mark else ""
    return f"<b>{escape(line.text)}</b>{why}{mark}"


def as_dot(proofs: list[Proof], prefixes: PrefixMap) -> str:
    """A Graphviz graph: a box for each step, arrows from premises to conclusions."""
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


class Rendered(ABC):
    """A result that can be shown as text, JSON and HTML."""

    @abstractmethod
    def tree(self) -> str: ...

    @abstractmethod
    def to_dict(self) -> dict[str, object]: ...

    @abstractmethod
    def to_html(self) -> str: ...

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return self.tree()

    def __repr__(self) -> str:
        return self.tree()


@dataclass(frozen=True, repr=False)
class Explanation(Rendered):
    """Proofs of a fact, lowest first.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="parent(ann, bob) .", add_rules="child(?y, ?x) :- parent(?x, ?y) .")
    >>> print(kb.explain("child(bob, ann)"))
    child(bob, ann)  rule 1
    └─ parent(ann, bob)  explicit
    <BLANKLINE>
    rule 1: child(?y, ?x) :- parent(?x, ?y) .
    """

    proofs: tuple[Proof, ...]
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.proofs)

    def __iter__(self) -> Iterator[Explanation]:
        """Iterate over the proofs, each as an Explanation."""
        return (Explanation((proof,), self.prefixes) for proof in self.proofs)

    @property
    def proof(self) -> Proof:
        """The first proof. No proof is lower."""
        return self.proofs[0]

    @property
    def depth(self) -> int:
        """The height of the first proof: 0 for an explicit fact."""
        return self.proof.height

    def facts(self) -> list[str]:
        """The explicit facts in the proofs, as text."""
        found = dict.fromkeys(fact for proof in self.proofs for fact in proof.leaves())
        return [fact_text(fact, self.prefixes) for fact in found]

    def rules(self) -> list[Rule]:
        """The rules used in the proofs, in the order of the knowledge base."""
        return [n.rule for n in sorted({n.number: n for proof in self.proofs for n in proof.rules()}.values())]

    def tree(self) -> str:
        """The proofs as indented text."""
        return "\n\n".join(tree(proof, self.prefixes) for proof in self.proofs)

    def to_dict(self) -> dict[str, object]:
        """The proofs as plain objects; `docs/explanations.md` describes the fields."""
        return {"proofs": [as_dict(proof, self.prefixes) for proof in self.proofs]}

    def to_html(self) -> str:
        """A self-contained HTML fragment."""
        return as_html(list(self.proofs), self.prefixes)

    def to_svg(self) -> str:
        """The first proof as a picture: an SVG element for a web page, which has the text of the proof, too."""
        from tidelog.explain.picture import pictures

        return pictures([self.proof], self.prefixes)

    def _repr_html_(self) -> str:
        """The proofs in a notebook: a picture of each that is not large, and the text."""
        from tidelog.explain.picture import pictures

        drawn = [proof for proof in self.proofs if 1 < len(proof.nodes) <= _DRAWN]
        return (pictures(drawn, self.prefixes) if drawn else "") + self.to_html()

    def to_dot(self) -> str:
        """A graph for Graphviz."""
        return as_dot(list(self.proofs), self.prefixes)
