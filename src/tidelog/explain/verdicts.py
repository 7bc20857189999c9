"""What `why_removed` and `why_kept` give back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape

from tidelog.explain.explanation import Explanation
from tidelog.explain.proof import Node
from tidelog.explain.text import Prefixes, check_lines, fact_text, reason
from tidelog.model.facts import Fact
from tidelog.rules.syntax import Rule


@dataclass(frozen=True)
class Support:
    """A step that a fact had and lost: what it was made of, and what of that is gone."""

    node: Node
    missing: tuple[Fact, ...]
    cause: str

    def text(self, prefixes: Prefixes) -> str:
        made_of = [fact_text(p.fact, prefixes) for p in self.node.premises]
        made_of += [line.text for line in check_lines(self.node, prefixes)]
        gone = [*([self.cause] if self.cause else []), *(f"{fact_text(f, prefixes)} is gone" for f in self.missing)]
        return f"{reason(self.node)}{': ' if made_of else ''}{', '.join(made_of)}  <- {'; '.join(gone)}"


@dataclass(frozen=True)
class Verdict:
    """What a version did to a fact. `explanation` holds a proof: `WhyRemoved` and `WhyKept` say of which version."""

    fact: Fact
    version: int
    explanation: Explanation

    @property
    def prefixes(self) -> Prefixes:
        return self.explanation.prefixes

    @property
    def headline(self) -> str:
        raise NotImplementedError

    def tree(self) -> str:
        """As indented text."""
        return f"{self.headline}\n{self.explanation.tree()}"

    def to_dict(self) -> dict[str, object]:
        """As plain objects."""
        return {"fact": fact_text(self.fact, self.prefixes), "version": self.version, **self.explanation.to_dict()}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def to_html(self) -> str:
        """A fragment of HTML that needs nothing else."""
        return f"<div>{escape(self.headline)}</div>{self.explanation.to_html()}"

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_dot(self) -> str:
        """The proof as a graph for Graphviz."""
        return self.explanation.to_dot()

    def __str__(self) -> str:
        return self.tree()

    def __repr__(self) -> str:
        return self.tree()


@dataclass(frozen=True, repr=False)
class WhyRemoved(Verdict):
    """The proof that a fact had before a version took it away, with remarks on what is gone.

    >>> import tidelog, tempfile
    >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
    >>> _ = kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) ."), kb.apply(remove="p(a) .")
    >>> why = kb.why_removed("q(a)")
    >>> why.lost_facts(), why.lost_rules
    (['p(a)'], ())
    """

    lost: tuple[Fact, ...]  # explicit facts of the proof that are no longer explicit
    lost_rules: tuple[Rule, ...]

    @property
    def headline(self) -> str:
        return f"{fact_text(self.fact, self.prefixes)} went with version {self.version}; before, it had this proof:"

    def lost_facts(self) -> list[str]:
        """The explicit facts of the proof that are no longer explicit, as text."""
        return [fact_text(fact, self.prefixes) for fact in self.lost]

    def to_dict(self) -> dict[str, object]:
        rules = [str(rule) for rule in self.lost_rules]
        return {**super().to_dict(), "lost_facts": self.lost_facts(), "lost_rules": rules}


@dataclass(frozen=True, repr=False)
class WhyKept(Verdict):
    """The proof that a fact still has after a version, and the steps to it that it lost.

    >>> import tidelog, tempfile
    >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
    >>> _ = kb.apply(add="p(a) . r(a) .", add_rules="q(?x) :- p(?x) . q(?x) :- r(?x) ."), kb.apply(remove="p(a) .")
    >>> print(kb.why_kept("q(a)"))
    q(a) stayed in version 2; it has this proof:
    q(a)  rule 2
    └─ r(a)  explicit
    <BLANKLINE>
    rule 2: q(?x) :- r(?x) .
    it lost:
      rule 1: p(a)  <- p(a) is gone
    """

    lost: tuple[Support, ...]

    @property
    def headline(self) -> str:
        return f"{fact_text(self.fact, self.prefixes)} stayed in version {self.version}; it has this proof:"

    def lost_supports(self) -> list[str]:
        """The steps to the fact that are gone, as text."""
        return [support.text(self.prefixes) for support in self.lost]

    def tree(self) -> str:
        lost = ["it lost:", *(f"  {text}" for text in self.lost_supports())] if self.lost else ["it lost nothing"]
        return "\n".join([super().tree(), *lost])

    def to_dict(self) -> dict[str, object]:
        return {**super().to_dict(), "lost": self.lost_supports()}

    def to_html(self) -> str:
        lost = "".join(f"<li>{escape(text)}</li>" for text in self.lost_supports())
        return f"{super().to_html()}<div>it lost:</div><ul>{lost}</ul>"
