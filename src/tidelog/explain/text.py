"""Proofs as text: what each line says, and the tree of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tidelog.equality.representatives import SAME
from tidelog.explain.proof import Node, Proof
from tidelog.explain.subject import Numbered
from tidelog.model.facts import Fact
from tidelog.rules.printer import format_atom, format_literal, format_rule, format_term
from tidelog.rules.syntax import Atom, Literal, Negation

Prefixes = Mapping[str, str]

ABOVE = "shown above"
EXPLICIT, AXIOM = "explicit", "an axiom of the rules"


@dataclass(frozen=True)
class Line:
    """One line of a proof: a fact or a check, and why it holds."""

    text: str
    reason: str
    mark: str = ""

    def __str__(self) -> str:
        return "  ".join(part for part in (self.text, self.reason, f"<- {self.mark}" if self.mark else "") if part)


def fact_text(fact: Fact, prefixes: Prefixes) -> str:
    return atom_text(Atom(fact.predicate, fact.args), prefixes)


def atom_text(atom: Atom, prefixes: Prefixes) -> str:
    if atom.predicate == SAME:
        return " = ".join(format_term(term, prefixes) for term in atom.args)
    return format_atom(atom, prefixes)


def reason(node: Node) -> str:
    """Why a node holds."""
    label = node.numbered.label if node.numbered else ""
    if node.group is not None:
        over = node.group.way.rule.aggregate
        assert over is not None
        return f"{label}: #{over.function} over {node.group.size:,} matches"
    if node.kind == "names":
        return f"other names: {', '.join(f'{one} = {other}' for one, other in node.equal)}"
    return {"explicit": EXPLICIT, "axiom": f"{label}: {AXIOM}"}.get(node.kind, label)


def node_line(node: Node, proof: Proof, prefixes: Prefixes, again: bool = False) -> Line:
    why = f"{reason(node)}, {ABOVE}" if again else reason(node)
    return Line(fact_text(node.fact, prefixes), why, proof.marks.get(node, ""))


def check_lines(node: Node, prefixes: Prefixes) -> Iterator[Line]:
    """What a step rests on besides its premises."""
    for check in node.checks:
        yield check_line(check, prefixes)
    if node.group is not None and node.group.size > len(node.group.matches):
        yield Line(f"… {node.group.size - len(node.group.matches):,} more matches", "")


def check_line(check: Literal, prefixes: Prefixes) -> Line:
    if isinstance(check, Negation):
        return Line(f"not {atom_text(check.atom, prefixes)}", "absent")
    return Line(format_literal(check, prefixes), "checked")


def tree(proof: Proof, prefixes: Prefixes) -> str:
    """The proof as indented lines, and the rules it uses below."""
    lines: list[str] = []
    seen: set[Node] = set()
    waiting: list[tuple[str, str, Node | Line]] = [("", "", proof.root)]
    while waiting:
        own, below, item = waiting.pop()
        if isinstance(item, Line):
            lines.append(f"{own}{item}")
            continue
        again = item in seen and bool(item.premises)
        seen.add(item)
        lines.append(f"{own}{node_line(item, proof, prefixes, again)}")
        children: list[Node | Line] = [] if again else [*item.premises, *check_lines(item, prefixes)]
        branches = (("└─ ", "   ") if i == len(children) else ("├─ ", "│  ") for i in range(1, len(children) + 1))
        waiting += reversed([(below + a, below + b, c) for (a, b), c in zip(branches, children, strict=True)])
    return "\n".join([*lines, *legend(proof.rules(), prefixes)])


def legend(rules: Iterable[Numbered], prefixes: Prefixes) -> Iterator[str]:
    """The texts of rules, after an empty line."""
    texts = [f"{n.label}: {format_rule(n.rule, prefixes)}" for n in rules]
    yield from ["", *texts] if texts else []
