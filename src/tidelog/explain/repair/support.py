"""The support of a fact: every rule instance that its proofs may use, and the proof that is easiest to break.

The search goes backwards from the fact, set at a time, until it finds no new facts. Among the instances found, Knuth's
generalisation of Dijkstra's algorithm finds a proof with the fewest removable leaves (counted each time they occur):

    cost of an explicit fact    1, or 0 if it must be kept
    cost of an instance         the sum of its premises
    cost of a fact              the minimum of these

With negation and aggregates, a fact may also disappear because another fact is gained:

    gains(p)   explicit facts whose removal may add a fact of p
    loses(p)   explicit facts whose removal may remove a fact of p

Both are computed from the rules alone, from heads to bodies. A negated atom turns one into the other; an aggregate
needs both. So the sets may be too large, but never too small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Generic

from tidelog.algebra.sourced_rule import all_from
from tidelog.errors import LimitError
from tidelog.explain.explained_version import VALUE, ExplainedVersion, F, HeadRule, RuleIndex, ground_atom, premises
from tidelog.explain.proof import group_value
from tidelog.model.terms import Fact, Term
from tidelog.rules.analysis.normalise import replace_in_atom
from tidelog.rules.syntax import Atom, Rule, Variable

MOST = 200_000  # instances in the support of one fact

_NO_INSTANCE = -1  # the fact is explicit


@dataclass(frozen=True)
class SupportInstance:
    """A rule with values. For an aggregate rule, all matches of a group are one instance."""

    head: Fact
    head_rule: HeadRule
    premises: frozenset[Fact]
    absent: tuple[Atom, ...] = ()  # atoms that must not hold; a variable in one of them stands for any term


@dataclass(frozen=True)
class RemainingProof:
    """A proof that remains after a removal: the leaves that may be removed, those to keep, and nonmonotone steps."""

    leaves: frozenset[Fact]
    kept: frozenset[Fact]
    nonmonotone: tuple[SupportInstance, ...]


class SupportGraph:
    """All instances that proofs of a fact may use. Facts are numbered, because proofs are searched many times."""

    def __init__(
        self,
        goal: Fact,
        explicit: Iterable[Fact],
        instances: Sequence[SupportInstance],
        is_kept: Callable[[Fact], bool],
    ) -> None:
        self.instances = instances
        self._numbers: dict[Fact, int] = {goal: 0}
        self._heads = [self._number(i.head) for i in instances]
        self._premises = [[self._number(p) for p in i.premises] for i in instances]
        leaves = {self._number(f): is_kept(f) for f in explicit}
        self._kept = {leaf for leaf, kept in leaves.items() if kept}
        self._start = sorted((0 if kept else 1, _NO_INSTANCE, leaf) for leaf, kept in leaves.items())
        self._start += [(0, n, self._heads[n]) for n, below in enumerate(self._premises) if not below]
        heapify(self._start)
        self._facts = list(self._numbers)
        self._uses: list[list[int]] = [[] for _ in self._facts]
        for number, below in enumerate(self._premises):
            for premise in below:
                self._uses[premise].append(number)

    def _number(self, fact: Fact) -> int:
        return self._numbers.setdefault(fact, len(self._numbers))

    def proof(self, removed: Set[Fact]) -> RemainingProof | None:
        """A proof that remains when these explicit facts are removed, or None."""
        best = self._best({self._numbers[f] for f in removed if f in self._numbers})
        if best is None:
            return None
        leaves, steps, waiting, seen = set(), [], [0], {0}
        while waiting:
            fact = waiting.pop()
            number = best[fact]
            if number == _NO_INSTANCE:
                leaves.add(fact)
                continue
            steps.append(self.instances[number])
            waiting += (p for p in self._premises[number] if p not in seen)
            seen.update(self._premises[number])
        kept = leaves & self._kept
        nonmonotone = tuple(s for s in steps if s.absent or s.head_rule.rule.aggregate is not None)
        return RemainingProof(self._set(leaves - kept), self._set(kept), nonmonotone)

    def _set(self, numbers: Iterable[int]) -> frozenset[Fact]:
        return frozenset(self._facts[n] for n in numbers)

    def _best(self, removed: Set[int]) -> dict[int, int] | None:
        """The last instance of the cheapest proof of each fact, up to the goal; None if the goal does not follow."""
        best: dict[int, int] = {}
        cost = [0] * len(self._facts)
        missing = [len(below) for below in self._premises]
        queue = self._start.copy()
        while queue:
            price, number, fact = heappop(queue)
            if fact in best or (number == _NO_INSTANCE and fact in removed):
                continue
            best[fact], cost[fact] = number, price
            if fact == 0:
                return best
            for use in self._uses[fact]:
                missing[use] -= 1
                if not missing[use]:
                    heappush(queue, (sum(cost[p] for p in self._premises[use]), use, self._heads[use]))
        return None


def support(
    explained: ExplainedVersion[F], goal: Fact, is_kept: Callable[[Fact], bool], most: int = MOST
) -> SupportGraph:
    """Collect all instances that proofs of `goal` may use."""
    engine = explained.engine
    instances: list[SupportInstance] = []
    explicit: set[Fact] = set()
    met = frontier = engine.fact_set((goal,))
    while frontier:
        explicit.update(frontier & explained.E)
        found = list(_instances(explained, frontier, most - len(instances)))
        instances += found
        met = met | frontier
        frontier = engine.fact_set({p for i in found for p in i.premises}) - met
    return SupportGraph(goal, explicit, instances, is_kept)


def _instances(explained: ExplainedVersion[F], facts: F, most: int) -> Iterator[SupportInstance]:
    """Yield the instances that derive one of the facts. Raises LimitError if there are more than `most`."""
    count = 0
    for head_rule in (w for name in facts.predicates() for w in explained.index.of_predicate(name)):
        if not facts.may_match(head_rule.head) or not all(explained.I.may_match(a) for a in head_rule.rule.atoms):
            continue
        for instance in _of_head_rule(explained, head_rule, facts, most - count + 1):
            yield instance
            count += 1
            if count > most:
                raise LimitError(
                    f"the fact can rest on more than {most:,} rule instances; that is too much for a repair to be found"
                )


def _of_head_rule(
    explained: ExplainedVersion[F], head_rule: HeadRule, facts: F, limit: int
) -> Iterator[SupportInstance]:
    if head_rule.rule.aggregate is not None:
        yield from _groups(explained, head_rule, facts)
        return
    for binding in explained.instances(head_rule, facts, explained.I, limit):
        absent = tuple(replace_in_atom(n.atom, binding) for n in head_rule.rule.negations)
        yield SupportInstance(
            ground_atom(head_rule.head, binding), head_rule, frozenset(premises(head_rule.rule, binding)), absent
        )


def _groups(explained: ExplainedVersion[F], head_rule: HeadRule, facts: F) -> Iterator[SupportInstance]:
    """Yield an instance for each fact that is the value of its group."""
    matches: dict[Fact, list[dict[Variable, Term]]] = {}
    for binding in explained.instances(head_rule, facts, explained.I):
        matches.setdefault(ground_atom(head_rule.head, binding), []).append(binding)
    at = head_rule.head.args.index(VALUE)
    for head, group in matches.items():
        if group_value(head_rule, list(group)) == head.args[at]:
            below = frozenset(p for m in group for p in premises(head_rule.rule, m))
            absent = {replace_in_atom(n.atom, m): None for m in group for n in head_rule.rule.negations}
            yield SupportInstance(head, head_rule, below, tuple(absent))


MOST_TRIED = 2_000  # explicit facts that are tried besides the leaves of a proof

Goal = tuple[Atom, bool]  # an atom, and whether it must be lost (True) or gained (False)


@dataclass
class NonmonotoneCauses(Generic[F]):
    """Finds removals that undo nonmonotone steps. `overlooked`: there were too many candidates; all were skipped."""

    explained: ExplainedVersion[F]
    overlooked: bool = False
    _known: dict[frozenset[Goal], frozenset[Fact]] = field(default_factory=dict)

    def facts(self, steps: Iterable[SupportInstance]) -> frozenset[Fact]:
        """Explicit facts whose removal may undo one of the steps, besides the premises of the step."""
        goals = frozenset(w for step in steps for w in _undoing(step))
        if goals not in self._known:
            found = list(islice(self._matching(_lost(self.explained.index, goals)), MOST_TRIED + 1))
            self.overlooked |= len(found) > MOST_TRIED
            self._known[goals] = frozenset(found) if len(found) <= MOST_TRIED else frozenset()
        return self._known[goals]

    def _matching(self, atoms: Iterable[Atom]) -> Iterator[Fact]:
        for atom in atoms:
            variables = list(dict.fromkeys(atom.variables()))
            for row in self.explained.engine.instances(
                all_from(Rule((), (atom,)), self.explained.E), variables, MOST_TRIED + 1
            ):
                yield ground_atom(atom, dict(zip(variables, row, strict=True)))


def _undoing(step: SupportInstance) -> Iterator[Goal]:
    yield from ((atom, False) for atom in step.absent)
    if step.head_rule.rule.aggregate is not None:
        yield from ((atom, False) for atom in step.head_rule.rule.atoms)
        yield from ((n.atom, True) for n in step.head_rule.rule.negations)


def _lost(index: RuleIndex, goals: Iterable[Goal]) -> list[Atom]:
    """The atoms of which explicit facts must be removed so that a goal can be reached."""
    waiting = list(goals)
    met: set[tuple[Rule, Atom, bool]] = set()
    lost: dict[Atom, None] = {}
    while waiting:
        atom, lose = waiting.pop()
        if lose:
            lost[atom] = None
        for head_rule in index.head_rules(atom):
            if (head_rule.rule, head_rule.head, lose) not in met:
                met.add((head_rule.rule, head_rule.head, lose))
                waiting += _below(head_rule.rule, lose)
    return list(lost)


def _below(rule: Rule, lose: bool) -> Iterator[Goal]:
    for either in (lose, not lose) if rule.aggregate is not None else (lose,):
        yield from ((atom, either) for atom in rule.atoms)
        yield from ((n.atom, not either) for n in rule.negations)


def is_nonmonotone(index: RuleIndex, goal: Fact) -> bool:
    """Whether a proof of the fact may use negation or an aggregate."""
    waiting: list[Atom | Fact] = [goal]
    met: set[Rule] = set()
    while waiting:
        for head_rule in index.head_rules(waiting.pop()):
            if head_rule.rule.negations or head_rule.rule.aggregate is not None:
                return True
            if head_rule.rule not in met:
                met.add(head_rule.rule)
                waiting += head_rule.rule.atoms
    return False
