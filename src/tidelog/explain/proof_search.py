"""Search for proofs: one of least height (`shortest`), or all of them, lowest first (`all_proofs`).

    height    0 for explicit facts and axioms, else 1 + the height of the highest premise

    backward  S0 = the fact,  S(d+1) = bodies of H <- H[S(d)], B1[I] .. Bn[I], without facts that need no proof
    forward   L0 = premises that need no proof,  L(j+1) = H[C] <- B1[L0 | .. | L(j)] ..      C = S0 | .. | S(d)

A proof of height d + 1 has only facts of C above its leaves. So if the forward rounds reach the fact in at most d + 1
rounds, the number of rounds is its height. In the last S(d) only premises that need no proof are useful, so the last
backward step reads those and not I. Both steps work on whole sets: a fact with thousands of supports costs a few joins.

`shortest` then chooses, for each fact, among its instances from lower facts (at most 8 of each rule): least sum of
premise heights, then fewest premises, then the first rule. So the height of the proof and of each of its parts is the
least possible; the number of steps need not be.

`all_proofs` builds trees in which no fact stands below itself. Two proofs differ if a fact in them has another rule, or
the same rule with other values. An explicit fact that is also derived has both kinds of proof. A fact that an instance
needs twice has one proof there. The trees of each height are built in turn, premise by premise; within a height smaller
trees come first, as far as they are found before the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice
from operator import or_
from typing import Generic

from tidelog.algebra.engine import Work
from tidelog.errors import LimitError
from tidelog.explain.explained_version import Binding, ExplainedVersion, F, HeadRule, ground_atom, premises
from tidelog.explain.proof import AggregateGroup, Proof, ProofNode, groups_of
from tidelog.model.terms import Fact, Term
from tidelog.rules.syntax import Rule, Variable

MOST = 5_000_000  # facts examined for one proof
_MANY_ROUNDS = 16  # rounds from which a dictionary of all heights is faster
_EACH = 6  # every depth up to this is tried; deeper ones are tried when they have grown by a quarter


@dataclass
class Heights(Generic[F]):
    """The examined facts by height, and the groups of those that aggregates computed."""

    rounds: list[F]
    groups: dict[Fact, list[AggregateGroup]]

    @cached_property
    def up_to(self) -> list[F]:
        """For each height, the facts of this height or less."""
        return list(accumulate(self.rounds, or_))

    def of(self, collected: F) -> dict[Fact, int]:
        """The height of each of these facts. Facts that were not examined are absent."""
        if len(self.rounds) > _MANY_ROUNDS:
            return {fact: self._known[fact] for fact in collected if fact in self._known}
        return {fact: height for height, some in enumerate(self.rounds) for fact in collected & some}

    @cached_property
    def _known(self) -> dict[Fact, int]:
        return {fact: height for height, some in enumerate(self.rounds) for fact in some}


@dataclass
class _HeightSearch(Generic[F]):
    """The state of the backward search."""

    explained: ExplainedVersion[F]
    most: int
    C: F  # facts to derive
    leaves: F  # premises that need no proof
    groups: dict[Fact, list[AggregateGroup]] = field(default_factory=dict)
    work: Work = field(default_factory=Work)

    def bodies(self, facts: F, read: F) -> F:
        found, _ = self.explained.engine.supports(
            self.explained.index.guarded, facts, read, self.explained.I, 0, None, self.work
        )
        if len(found) + len(self.C) > self.most:
            raise LimitError(
                f"more than {self.most:,} facts may support this one; "
                "raise `most`, or explain a fact that is closer to the explicit ones"
            )
        return found

    def group_facts(self, facts: F) -> F:
        """The premises of the groups from which these facts were computed."""
        names = {h.predicate for n in self.explained.index.aggregates for h in n.rule.heads}
        for name in names & facts.predicates().keys() if names else ():
            self.groups |= {
                f: list(groups_of(self.explained, f)) for f in facts.of_predicate(name) if f not in self.groups
            }
        asked = (f for f in facts) if self.groups else iter(())
        return self.explained.engine.fact_set(p for f in asked for g in self.groups.get(f, ()) for p in g.premises)

    def rounds(self, goal: F, leaves: F, most: int | None) -> list[F]:
        """Forward search: the facts of each round, until a round contains the goal or `most` rounds are done."""
        explained, nothing = self.explained, self.explained.engine.fact_set(())
        found, known, before, new = [leaves], leaves, nothing, leaves
        while not goal & new and (most is None or len(found) <= most):
            heads = explained.engine.derive_pivoted(explained.index.plain, before, new, known, explained.I, self.work)
            heads = heads | self._complete(known)
            if len(found) == 1:
                heads = heads | explained.unconditional
            before, new = known, (heads & self.C) - known
            if not new:
                break
            known = known | new
            found.append(new)
        return found

    def _complete(self, known: F) -> F:
        """The facts of aggregates for which all premises of a group are known."""
        fact_set = self.explained.engine.fact_set
        return fact_set(f for f, gs in self.groups.items() for g in gs if not fact_set(g.premises) - known)


def least_heights(explained: ExplainedVersion[F], fact: Fact, most: int = MOST) -> Heights[F]:
    """The facts that the lowest proofs of a fact are made of, by height. The fact holds and is in the last round."""
    goal, nothing = explained.one(fact), explained.engine.fact_set(())
    if goal & explained.ground:
        return Heights([goal], {})
    search = _HeightSearch(explained, most, goal, nothing)
    S, depth = goal, 0
    while S:
        more = search.group_facts(S)
        if _is_tried(depth):
            leaves = search.leaves | search.bodies(S, explained.ground) | (more & explained.ground)
            rounds = search.rounds(goal, leaves, depth + 1)
            if goal & rounds[-1]:
                return Heights(rounds, search.groups)
        bodies = search.bodies(S, explained.I) | more
        search.leaves = search.leaves | (bodies & explained.ground)
        S = bodies - explained.ground - search.C
        search.C = search.C | S
        depth += 1
    return Heights(search.rounds(goal, search.leaves, None), search.groups)


def _is_tried(depth: int) -> bool:
    """Whether to search forward at this depth. A try costs one round per level, so large depths are tried rarely."""
    tried = _EACH
    while tried < depth:
        tried += max(1, tried // 4)
    return depth <= _EACH or tried == depth


_CANDIDATES = 8  # instances of one rule to choose from


@dataclass(frozen=True)
class DerivationStep:
    """How a fact is derived: by an instance of a rule, or by all matches of a group."""

    head_rule: HeadRule
    binding: Binding
    premises: tuple[Fact, ...]
    group: AggregateGroup | None = None

    def node(self, fact: Fact, nodes: dict[Fact, ProofNode]) -> ProofNode:
        below = tuple(nodes[p] for p in self.premises)
        kind = "rule" if self.group is None else "aggregate"
        return ProofNode(fact, kind, self.head_rule.numbered, self.binding, below, self.group)  # type: ignore[arg-type]


def shortest(explained: ExplainedVersion[F], fact: Fact, most: int = MOST) -> ProofNode:
    """A lowest proof of a fact that holds."""
    heights = least_heights(explained, fact, most)
    used: list[dict[Fact, DerivationStep | None]] = [{} for _ in heights.rounds]  # the facts of each height
    used[-1][fact] = None
    for height in range(len(used) - 1, 0, -1):
        for each in used[height]:
            used[height][each], below = _step(explained, each, heights, heights.up_to[height - 1])
            for premise, lower in below.items():
                used[lower].setdefault(premise)
    nodes: dict[Fact, ProofNode] = {}
    for each, step in (item for some in used for item in some.items()):
        nodes[each] = leaf(explained, each) if step is None else step.node(each, nodes)
    return nodes[fact]


def _step(
    explained: ExplainedVersion[F], fact: Fact, heights: Heights[F], lower: F
) -> tuple[DerivationStep, dict[Fact, int]]:
    """The best step to a fact, and the heights of its premises."""
    steps = list(_steps(explained, fact, heights, lower))
    facts = {p for s in steps for p in s.premises}
    known = dict.fromkeys(facts, 0) if lower is heights.rounds[0] else heights.of(explained.engine.fact_set(facts))
    best = min(steps, key=lambda s: (sum(known[p] for p in s.premises), len(s.premises), s.head_rule.numbered.number))
    return best, {p: known[p] for p in best.premises}


def _steps(explained: ExplainedVersion[F], fact: Fact, heights: Heights[F], lower: F) -> Iterator[DerivationStep]:
    """Yield candidate steps that derive `fact` from lower facts."""
    for head_rule in explained.index.head_rules(fact):
        if head_rule.rule.aggregate is None and all(lower.may_match(a) for a in head_rule.rule.atoms):
            for binding in explained.steps(head_rule, fact, lower, _CANDIDATES):
                yield DerivationStep(head_rule, binding, premises(head_rule.rule, binding))
    highest = {p for g in heights.groups.get(fact, ()) for p in g.premises}
    there = set(explained.engine.fact_set(highest) & lower) if highest else set()
    for group in heights.groups.get(fact, ()):
        if there.issuperset(group.premises):
            yield DerivationStep(group.head_rule, {}, group.premises, group)


def leaf(explained: ExplainedVersion[F], fact: Fact) -> ProofNode:
    """The node of a fact that needs no proof."""
    if not explained.index.axioms or explained.one(fact) & explained.E:
        return ProofNode(fact, "explicit")
    head_rules = (w for w in explained.index.head_rules(fact) if not w.rule.body and ground_atom(w.head, {}) == fact)
    return ProofNode(fact, "axiom", next(head_rules).numbered)


MOST_STEPS = 1_000_000  # instances and trees examined
_HIGHEST = 150  # the search is recursive


@dataclass
class _Trees(Generic[F]):
    explained: ExplainedVersion[F]
    looked_at: int = 0
    cut: bool = False  # whether a tree was dropped only because it would have been too high
    _leaves: dict[Fact, ProofNode] = field(default_factory=dict)
    _steps: dict[Fact, list[DerivationStep]] = field(default_factory=dict)
    _within: dict[tuple[Fact, int], bool] = field(default_factory=dict)

    def of(self, fact: Fact, height: int, path: frozenset[Fact]) -> Iterator[ProofNode]:
        """Yield the trees for `fact` of at most this height that contain no fact of `path`."""
        steps = self.steps(fact)
        if fact in self._leaves:
            yield self._leaves[fact]
        if height == 0:
            self.cut = self.cut or bool(steps)
            return
        path = path | {fact}
        for step in steps:
            facts = list(dict.fromkeys(step.premises))
            if path.isdisjoint(facts) and all(self._is_within(p, height - 1) for p in facts):
                for below in self._all(facts, height - 1, path):
                    self._look()
                    yield step.node(fact, below)

    def _all(self, facts: Sequence[Fact], height: int, path: frozenset[Fact]) -> Iterator[dict[Fact, ProofNode]]:
        """Yield every combination of one tree for each of the facts."""
        if not facts:
            yield {}
            return
        for node in self.of(facts[0], height, path):
            for others in self._all(facts[1:], height, path):
                yield {facts[0]: node, **others}

    def _is_within(self, fact: Fact, height: int) -> bool:
        """Whether the fact has a proof of at most this height, ignoring the path above it."""
        known = self._within.get((fact, height))
        if known is None:
            steps = self.steps(fact)
            known = fact in self._leaves or (
                height > 0 and any(all(self._is_within(p, height - 1) for p in s.premises) for s in steps)
            )
            self._within[fact, height] = known
        self.cut = self.cut or not known
        return known

    def steps(self, fact: Fact) -> list[DerivationStep]:
        """All steps that derive the fact."""
        if fact not in self._steps:
            guard = self.explained.one(fact)
            if guard & self.explained.ground:
                self._leaves[fact] = leaf(self.explained, fact)
            self._steps[fact] = found = []
            for step in steps_to(self.explained, fact, MOST_STEPS - self.looked_at):
                self._look()
                found.append(step)
        return self._steps[fact]

    def _look(self) -> None:
        self.looked_at += 1
        if self.looked_at >= MOST_STEPS:
            raise LimitError(
                f"more than {MOST_STEPS:,} steps were looked at for proofs; ask for fewer proofs, or for one"
            )


def all_proofs(explained: ExplainedVersion[F], fact: Fact, limit: int) -> list[ProofNode]:
    """At most `limit` proofs of a fact that holds, lowest first."""
    trees, found = _Trees(explained), list[ProofNode]()
    for height in range(_HIGHEST):
        trees.cut = False
        new = (node for node in trees.of(fact, height, frozenset()) if node.height == height)
        found += sorted(islice(new, limit - len(found)), key=lambda node: Proof(node).size)
        if len(found) == limit or not trees.cut:
            return found
    raise LimitError(f"some proofs are higher than {_HIGHEST} steps; ask for {len(found)} or fewer")


def steps_to(explained: ExplainedVersion[F], fact: Fact, limit: int | None = None) -> Iterator[DerivationStep]:
    """Yield all single steps that derive the fact, at most `limit` of each rule."""
    seen = set[tuple[Rule, tuple[tuple[Variable, Term], ...]]]()
    for head_rule in explained.index.head_rules(fact):
        if head_rule.rule.aggregate is None and head_rule.rule.body:
            for binding in explained.steps(head_rule, fact, explained.I, limit):
                known = head_rule.rule, tuple(sorted(binding.items(), key=lambda item: item[0].name))
                if known not in seen:  # a rule with two heads may derive the fact twice
                    seen.add(known)
                    yield DerivationStep(head_rule, binding, premises(head_rule.rule, binding))
    for group in groups_of(explained, fact):
        yield DerivationStep(group.head_rule, {}, group.premises, group)
