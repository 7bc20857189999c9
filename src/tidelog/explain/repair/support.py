"""The support of a fact: every rule instance that one of its proofs may use, and the proof that is easiest to break.

Backwards from the fact, set at a time, as long as there are facts that were not met. Within that, Knuth's
generalisation of Dijkstra's algorithm finds a proof with fewest removable leaves (counted each time they occur):

    cost of an explicit fact    1, or 0 if it is to be kept
    cost of an instance         the sum of its premises
    cost of a fact              the least of these

Removals that add: with negation and aggregates, a fact may also go because something new follows.

    gains(p)   explicit facts whose removal may make a fact of p follow
    loses(p)   explicit facts whose removal may make a fact of p go

Both are found from the rules alone, by following heads to bodies; a negated atom turns the one into the other, and an
aggregate needs both. So they hold too much rather than too little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Generic, TypeVar

from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import all_from
from tidelog.errors import LimitError
from tidelog.explain.explained_version import VALUE, ExplainedVersion, HeadRule, RuleIndex, ground_atom, premises
from tidelog.explain.proof import group_value
from tidelog.model.facts import Fact
from tidelog.model.terms import Term
from tidelog.rules.syntax import Atom, Rule, Variable

F = TypeVar("F", bound=FactSet)

MOST = 200_000  # instances in the support of one fact

_NO_INSTANCE = -1  # explicit


@dataclass(frozen=True)
class SupportInstance:
    """A rule with values. Of an aggregate rule all matches of a group are one instance."""

    head: Fact
    head_rule: HeadRule
    premises: frozenset[Fact]
    absent: tuple[Atom, ...] = ()  # what it takes not to hold; a variable left in it stands for anything


@dataclass(frozen=True)
class RemainingProof:
    """What breaks a proof: leaves that may be removed, and steps that also other removals may undo."""

    leaves: frozenset[Fact]
    kept: frozenset[Fact]
    nonmonotone: tuple[SupportInstance, ...]


class SupportGraph:
    """Instances, and the explicit facts among what they are made of, by numbers: proofs are sought again and again."""

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
        """A proof that is left when some explicit facts are removed, or None."""
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
        """The last instance of the cheapest proof of each fact, up to the goal; None if that does not follow."""
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
    """All that a fact rests on, directly or not."""
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
    """The instances that derive one of the facts; too many are refused."""
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
        absent = tuple(_partly_ground(n.atom, binding) for n in head_rule.rule.negations)
        yield SupportInstance(
            ground_atom(head_rule.head, binding), head_rule, frozenset(premises(head_rule.rule, binding)), absent
        )


def _groups(explained: ExplainedVersion[F], head_rule: HeadRule, facts: F) -> Iterator[SupportInstance]:
    """An instance for each fact that is the value of its group."""
    matches: dict[Fact, list[dict[Variable, Term]]] = {}
    for binding in explained.instances(head_rule, facts, explained.I):
        matches.setdefault(ground_atom(head_rule.head, binding), []).append(binding)
    at = head_rule.head.args.index(VALUE)
    for head, group in matches.items():
        if group_value(head_rule, list(group)) == head.args[at]:
            below = frozenset(p for m in group for p in premises(head_rule.rule, m))
            absent = {_partly_ground(n.atom, m): None for m in group for n in head_rule.rule.negations}
            yield SupportInstance(head, head_rule, below, tuple(absent))


def _partly_ground(atom: Atom, binding: dict[Variable, Term]) -> Atom:
    return Atom(atom.predicate, tuple(binding.get(a, a) if isinstance(a, Variable) else a for a in atom.args))


MOST_TRIED = 2_000  # explicit facts to be tried besides the leaves of a proof

Goal = tuple[Atom, bool]  # an atom, and whether it is to be lost (else to be gained)


@dataclass
class NonmonotoneCauses(Generic[F]):
    """For the steps of proofs that more than removed leaves can undo; `overlooked` says that there was too much."""

    explained: ExplainedVersion[F]
    overlooked: bool = False
    _known: dict[frozenset[Goal], frozenset[Fact]] = field(default_factory=dict)

    def facts(self, steps: Iterable[SupportInstance]) -> frozenset[Fact]:
        """Explicit facts whose removal may undo one of the steps, besides those that it needs."""
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
    """The atoms whose explicit facts are to be lost so that a wish may come true."""
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
    """Whether negation or an aggregate may have a part in a proof of a fact."""
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
