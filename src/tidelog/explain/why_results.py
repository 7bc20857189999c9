"""The results of `why_removed` and `why_kept`, and the comparison of two versions behind them.

A proof of the old version is broken where an explicit fact is no longer explicit, a rule was removed, a negated atom
has a match now, or an aggregate has another value. A proof that is not broken is still a proof. So every old proof of a
removed fact is broken somewhere, and all facts above the broken place may be removed too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import islice
from typing import Generic

from tidelog.explain.equality_view import EqualityView
from tidelog.explain.explained_version import F
from tidelog.explain.proof import Proof, ProofNode, groups_of, without_helpers
from tidelog.explain.proof_search import shortest, steps_to
from tidelog.explain.render import Explanation, PrefixMap, Rendered, atom_text, check_lines, fact_text, reason
from tidelog.explain.why_not import has_match
from tidelog.model.terms import Fact, is_helper
from tidelog.rules.syntax import Atom, Negation, Rule


@dataclass(frozen=True)
class LostSupport:
    """A step that a fact lost: its node, the premises that are gone, and another cause if there is one."""

    node: ProofNode
    missing: tuple[Fact, ...]
    cause: str

    def text(self, prefixes: PrefixMap) -> str:
        made_of = [fact_text(p.fact, prefixes) for p in self.node.premises]
        made_of += [line.text for line in check_lines(self.node, prefixes)]
        gone = [*([self.cause] if self.cause else []), *(f"{fact_text(f, prefixes)} is gone" for f in self.missing)]
        return f"{reason(self.node)}{': ' if made_of else ''}{', '.join(made_of)}  <- {'; '.join(gone)}"


@dataclass(frozen=True, repr=False)
class WhyResult(Rendered):
    """How a version changed the support of a fact, and a proof before (`WhyRemoved`) or after it (`WhyKept`)."""

    fact: Fact
    version: int
    explanation: Explanation

    @property
    def prefixes(self) -> PrefixMap:
        return self.explanation.prefixes

    @property
    def headline(self) -> str:
        raise NotImplementedError

    def tree(self) -> str:
        """The result as indented text."""
        return f"{self.headline}\n{self.explanation.tree()}"

    def to_dict(self) -> dict[str, object]:
        """The result as plain objects."""
        return {"fact": fact_text(self.fact, self.prefixes), "version": self.version, **self.explanation.to_dict()}

    def to_html(self) -> str:
        """A self-contained HTML fragment."""
        return f"<div>{escape(self.headline)}</div>{self.explanation.to_html()}"

    def to_svg(self) -> str:
        """The proof as a picture: an SVG element for a web page."""
        return self.explanation.to_svg()

    def _repr_html_(self) -> str:
        return f"{self.to_svg()}{self.to_html()}"

    def to_dot(self) -> str:
        """The proof as a graph for Graphviz."""
        return self.explanation.to_dot()


@dataclass(frozen=True, repr=False)
class WhyRemoved(WhyResult):
    """The proof that a fact had before a version removed it, with remarks on the parts that are gone.

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
        return (
            f"{fact_text(self.fact, self.prefixes)} was removed by version {self.version}; before, it had this proof:"
        )

    def lost_facts(self) -> list[str]:
        """The explicit facts of the proof that are no longer explicit, as text."""
        return [fact_text(fact, self.prefixes) for fact in self.lost]

    def to_dict(self) -> dict[str, object]:
        rules = [str(rule) for rule in self.lost_rules]
        return {**super().to_dict(), "lost_facts": self.lost_facts(), "lost_rules": rules}


@dataclass(frozen=True, repr=False)
class WhyKept(WhyResult):
    """The proof that a fact still has after a version, and the steps that it lost.

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

    lost: tuple[LostSupport, ...]

    @property
    def headline(self) -> str:
        return f"{fact_text(self.fact, self.prefixes)} stayed in version {self.version}; it has this proof:"

    def lost_supports(self) -> list[str]:
        """The steps that the fact lost, as text."""
        return [support.text(self.prefixes) for support in self.lost]

    def tree(self) -> str:
        lost = ["it lost:", *(f"  {text}" for text in self.lost_supports())] if self.lost else ["it lost nothing"]
        return "\n".join([super().tree(), *lost])

    def to_dict(self) -> dict[str, object]:
        return {**super().to_dict(), "lost": self.lost_supports()}

    def to_html(self) -> str:
        lost = "".join(f"<li>{escape(text)}</li>" for text in self.lost_supports())
        return f"{super().to_html()}<div>it lost:</div><ul>{lost}</ul>"


MOST_SUPPORTS = 1_000  # rule instances of one fact that are compared


@dataclass(frozen=True)
class ComparedVersion(Generic[F]):
    """One version: the view of its facts, and its rules as the user wrote them."""

    view: EqualityView[F]
    rules: tuple[Rule, ...]

    @cached_property
    def keys(self) -> set[str]:
        return {rule.key for rule in self.rules}


@dataclass(frozen=True)
class Causes(Generic[F]):
    """Finds the parts of a proof in the old version that are not valid in the new one."""

    old: ComparedVersion[F]
    new: ComparedVersion[F]

    def of(self, node: ProofNode) -> str:
        """Why this step is no longer valid, or "". Does not look at its premises."""
        if node.kind == "explicit":
            return "" if self.new.view.explained.one(node.fact) & self.new.view.explicit else "no longer explicit"
        if node.kind == "names":
            stored = {self.new.view.stored(n.fact) for n in (node, *node.premises)}
            return "" if len(stored) < 2 and self._is_same(node) else "no longer the same"
        if node.numbered is not None and self.old.rules[node.numbered.number - 1].key not in self.new.keys:
            return "the rule was removed"
        if node.kind == "aggregate":
            return "" if self._is_given(node) else "the aggregate gives something else now"
        return "; ".join(f"there is {atom_text(a, self.new.view.explained.prefixes)} now" for a in self._blocking(node))

    def _is_same(self, node: ProofNode) -> bool:
        """Whether the names of a leaf about equal names are still equal. A node with premises passes."""
        if node.premises:
            return True
        return len({self.new.view.stored(Fact("", (t,))) for t in node.fact.args}) == 1

    def _is_given(self, node: ProofNode) -> bool:
        assert node.numbered is not None
        given = groups_of(self.new.view.explained, self.new.view.stored(node.fact))
        return any(g.head_rule.rule.key == node.numbered.rule.key for g in given)

    def _blocking(self, node: ProofNode) -> Iterator[Atom]:
        """Yield the negated atoms that have a match now."""
        for check in node.checks:
            if isinstance(check, Negation) and has_match(self.new.view.explained, check.atom):
                yield check.atom

    def marked(self, proof: Proof) -> Proof:
        """The old proof with remarks on the parts that are gone."""
        marks = {}
        for node in proof.nodes:
            cause = self.of(node)
            if cause or not self.new.view.holds(node.fact):
                marks[node] = cause or "gone with it"
        return replace(proof, marks=marks)

    def causes(self, proof: Proof) -> dict[ProofNode, str]:
        """The nodes at which an old proof is broken, with the causes."""
        return {node: cause for node in proof.nodes if (cause := self.of(node))}

    def lost_supports(self, fact: Fact) -> list[ProofNode]:
        """The steps to the fact in the old version that the new one lacks: rule instances, and the explicit fact."""
        stored, explained = self.old.view.stored(fact), self.old.view.explained
        nodes = [ProofNode(fact, "explicit")] if explained.one(fact) & self.old.view.explicit else []
        for step in islice(steps_to(explained, stored), MOST_SUPPORTS):
            below = {p: ProofNode(p, "explicit") for p in step.premises}  # only the facts of the premises are used
            nodes.append(step.node(stored, below))
        return [self._without_helpers(n) for n in nodes if self.of(n) or self.missing(n)]

    def _without_helpers(self, step: ProofNode) -> ProofNode:
        """The step with the premises of helper facts, as far as a proof of the old version needs, in their place."""
        if not any(is_helper(p.fact.predicate) for p in step.premises):
            return step
        explained = self.old.view.explained
        below = (shortest(explained, p.fact) if is_helper(p.fact.predicate) else p for p in step.premises)
        return without_helpers(Proof(replace(step, premises=tuple(below)))).root

    def missing(self, node: ProofNode) -> list[Fact]:
        """The premises of a step that are gone. Empty for an aggregate: a smaller group may have the same value."""
        return [] if node.kind == "aggregate" else [p.fact for p in node.premises if not self.new.view.holds(p.fact)]
