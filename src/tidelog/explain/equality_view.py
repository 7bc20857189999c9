"""Explanations with equal terms: users ask with any name, facts are stored with representatives, proofs show names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Generic

from tidelog.algebra.engine import Engine
from tidelog.algorithms.equality.maintain import Rewritten, rewritten
from tidelog.algorithms.equality.policy import MODES, OFF, mode_of
from tidelog.algorithms.equality.representatives import SAME, Representatives
from tidelog.explain.explained_version import ExplainedVersion, F, NumberedRule
from tidelog.explain.proof import ProofNode
from tidelog.model.terms import Fact
from tidelog.rules.printer import format_term
from tidelog.rules.syntax import Rule

_MOST_NAMES = 10_000  # names of one fact that are searched for the explicit one


@dataclass(frozen=True)
class EqualityView(Generic[F]):
    """An explained version, and the translation between stored facts and the names that users know."""

    explained: ExplainedVersion[F]
    explicit: F  # under the names that the user gave
    representatives: Representatives[F] | None = None

    def stored(self, fact: Fact) -> Fact:
        """The fact with representatives in place of its terms."""
        if self.representatives is None:
            return fact
        standing = self.representatives.of(fact.args)
        return Fact(fact.predicate, tuple(standing.get(t, t) for t in fact.args))

    def holds(self, fact: Fact) -> bool:
        return self.explained.holds(self.stored(fact))

    def shown(self, fact: Fact, root: ProofNode) -> ProofNode:
        """Turn a proof of the stored fact into a proof of `fact`. Explicit facts get the names the user gave."""
        if self.representatives is None:
            return root
        root = self._with_leaves(root)
        if root.fact == fact:
            return root
        return root.premises[0] if root.kind == "names" and root.premises[0].fact == fact else self._renamed(fact, root)

    def _renamed(self, fact: Fact, node: ProofNode) -> ProofNode:
        pairs = dict.fromkeys((a, b) for a, b in zip(fact.args, node.fact.args, strict=True) if a != b)
        prefixes = self.explained.prefixes
        equal = tuple((format_term(a, prefixes), format_term(b, prefixes)) for a, b in pairs)
        return ProofNode(fact, "names", premises=(node,), equal=equal)

    def _with_leaves(self, root: ProofNode) -> ProofNode:
        made: dict[ProofNode, ProofNode] = {}
        waiting = [root]
        while waiting:
            node = waiting[-1]
            missing = [p for p in node.premises if p not in made]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            premises = tuple(made[p] for p in node.premises)
            made[node] = self._leaf(node) if node.kind == "explicit" else replace(node, premises=premises)
        return made[root]

    def _leaf(self, node: ProofNode) -> ProofNode:
        """The node of an explicit fact, under the names the user gave."""
        if node.fact.predicate == SAME:
            member, first = (format_term(t, self.explained.prefixes) for t in node.fact.args)
            return replace(node, kind="names", equal=((member, first),))
        if self.explained.one(node.fact) & self.explicit:
            return node
        return self._renamed(node.fact, ProofNode(self._explicit(node.fact), "explicit"))

    def _explicit(self, fact: Fact) -> Fact:
        """One of the explicit facts that are stored as this one."""
        assert self.representatives is not None
        members = self.representatives.members(fact.args)
        choices = [sorted(members[t]) for t in fact.args]
        names = (Fact(fact.predicate, args) for args, _ in zip(product(*choices), range(_MOST_NAMES), strict=False))
        return min(self.explained.engine.fact_set(names) & self.explicit, default=fact)


def equality_view(
    engine: Engine[F],
    E: F,
    I: F,
    rules: tuple[Rule, ...],
    prefixes: Mapping[str, str],
    options: Mapping[str, object],
    kept: object,
) -> EqualityView[F]:
    """Build the view of one version."""
    mode = mode_of(options)
    if mode is MODES[OFF]:
        numbered = tuple(NumberedRule(i, r) for i, r in enumerate(rules, 1) if r.heads)
        return EqualityView(ExplainedVersion(engine, E, I, numbered, prefixes), E)
    state = kept if isinstance(kept, Rewritten) else rewritten(engine, rules, E, I)
    numbered = tuple(
        NumberedRule(i, version) for i, r in enumerate(rules, 1) if r.heads for version in mode.rules(engine, (r,), I)
    )
    return EqualityView(ExplainedVersion(engine, state.E, I, numbered, prefixes), E, state.representatives)
