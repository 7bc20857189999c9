"""What `explain` gives back: one proof or several, in any form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tidelog.explain.forms import as_dict, as_dot, as_html
from tidelog.explain.proof import Proof
from tidelog.explain.text import fact_text, tree
from tidelog.rules.syntax import Rule


@dataclass(frozen=True)
class Explanation:
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
        """Each proof on its own."""
        return (Explanation((proof,), self.prefixes) for proof in self.proofs)

    @property
    def proof(self) -> Proof:
        """The first proof, which is as low as any."""
        return self.proofs[0]

    @property
    def depth(self) -> int:
        """The height of the first proof: 0 for an explicit fact."""
        return self.proof.height

    def facts(self) -> list[str]:
        """The explicit facts that the proofs rest on, as text."""
        found = dict.fromkeys(fact for proof in self.proofs for fact in proof.leaves())
        return [fact_text(fact, self.prefixes) for fact in found]

    def rules(self) -> list[Rule]:
        """The rules that the proofs use, in the order of the knowledge base."""
        return [n.rule for n in sorted({n.number: n for proof in self.proofs for n in proof.rules()}.values())]

    def tree(self) -> str:
        """The proofs as indented text."""
        return "\n\n".join(tree(proof, self.prefixes) for proof in self.proofs)

    def to_dict(self) -> dict[str, object]:
        """The proofs as plain objects; see the page on explanations."""
        return {"proofs": [as_dict(proof, self.prefixes) for proof in self.proofs]}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def to_html(self) -> str:
        """A fragment of HTML that needs nothing else."""
        return as_html(list(self.proofs), self.prefixes)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_dot(self) -> str:
        """A graph for Graphviz."""
        return as_dot(list(self.proofs), self.prefixes)

    def __str__(self) -> str:
        return self.tree()

    def __repr__(self) -> str:
        return self.tree()
