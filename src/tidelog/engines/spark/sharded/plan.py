"""The distributed join of a rule body: steps, each an ordinary rule that runs at every shard over the shard's facts.

A step is *partitioned by* a variable: at the shard of each value, all large atoms that contain the variable are local.
Every shard reads small atoms whole. A step returns bindings of all variables so far, so that the number of matches is
kept. They are shuffled to the shards of the variable of the next step.

    [?x, a, Student] :- [?x, a, Person], [?x, takes, ?y], [?y, a, Course]

    at ?x   (bindings)(?x, ?y) :- [?x, a, Person]@0, [?x, takes, ?y]@0     sent to ?y
    at ?y   [?x, a, Student] :- (bindings)(?x, ?y), [?y, a, Course]@0

`@i` is the copy that is partitioned by argument i, `@all` the whole set. A plan depends on sizes, never on facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from tidelog.rules.printer import format_literal
from tidelog.rules.syntax import (
    Assignment,
    Atom,
    Condition,
    Literal,
    Negation,
    Rule,
    Variable,
    expression_variables,
    literal_variables,
)

ALL = -1
BINDINGS = "(bindings)"

_NUMBERS = count()
Skewed = Callable[[int, int], bool]  # (number of a source, argument): whether few values are most of the argument


@dataclass(frozen=True, slots=True)
class Read:
    """What an atom of a step reads: a source (None: the bindings), partitioned by the argument `key`, or ALL of it."""

    source: int | None
    key: int


@dataclass(frozen=True)
class PlanStep:
    """A rule, the variable it is partitioned by, and the variable by which its bindings are shuffled next.

    `repartition_by` is None at the last step, and if the bindings go to the first shard.
    """

    partitioned_by: Variable | None
    rule: Rule
    reads: tuple[Read, ...]
    alone: bool = False  # only the first shard runs the step
    repartition_by: Variable | None = None

    def describe(self) -> str:
        reads = iter(self.reads)
        body = ", ".join(_literal(b, reads) for b in self.rule.body)
        heads = ", ".join(format_literal(h) for h in self.rule.heads)
        where = (
            "at the first shard" if self.alone else f"at {self.partitioned_by}" if self.partitioned_by else "anywhere"
        )
        return f"{where}: {heads} :- {body}".replace(f"<{BINDINGS}>", BINDINGS)


@dataclass(frozen=True)
class RulePlan:
    """The steps of a rule. The number names it in every process."""

    number: int
    steps: tuple[PlanStep, ...]

    def describe(self) -> list[str]:
        """A line for each step."""
        return [step.describe() for step in self.steps]


def plan(rule: Rule, sizes: Sequence[int], few: int, skewed: Skewed = lambda source, argument: False) -> RulePlan:
    """A plan for a rule.

    `sizes`: the rows that each atom reads, negated atoms included. Every shard reads an atom of up to `few` rows whole.
    """
    return RulePlan(next(_NUMBERS), tuple(_Planner(rule, sizes, few, skewed).steps()))


@dataclass(eq=False)
class _PlanLiteral:
    """A literal of the body and, for an atom, its source."""

    literal: Literal
    source: int | None = None
    size: int = 0
    is_large: bool = False

    @property
    def atom(self) -> Atom:
        literal = self.literal.atom if isinstance(self.literal, Negation) else self.literal
        assert isinstance(literal, Atom)
        return literal

    def argument(self, variable: Variable | None) -> int | None:
        """The first argument that is the variable."""
        return self.atom.args.index(variable) if variable is not None and variable in self.atom.args else None


class _Planner:
    def __init__(self, rule: Rule, sizes: Sequence[int], few: int, skewed: Skewed) -> None:
        self.rule, self.skewed = rule, skewed
        numbers = count()
        self.open: list[_PlanLiteral] = []
        for literal in rule.body:
            if isinstance(literal, Atom | Negation):
                source = next(numbers)
                self.open.append(_PlanLiteral(literal, source, sizes[source], sizes[source] > few))
            else:
                self.open.append(_PlanLiteral(literal))
        self.binding = {v for e in self.open if isinstance(e.literal, Atom) for v in e.atom.variables()}
        self.binding |= {e.literal.variable for e in self.open if isinstance(e.literal, Assignment)}
        self.bound: list[Variable] = []
        self.partitioned_by: Variable | None = None
        self.chosen: list[tuple[_PlanLiteral, int]] = []  # the literals of the current step, and the key of each

    def steps(self) -> Iterator[PlanStep]:
        alone = self._begin()
        before: tuple[Variable, ...] | None = None
        while True:
            self._fill()
            assert before is None or self.chosen or not self.open, f"a variable of {self.rule} is never bound"
            done = not self.open and self._groups_are_here(alone)
            after = tuple(self.bound)
            repartition_by = None if done else self._next_variable()
            yield self._step(before, None if done else after, alone, repartition_by)
            if done:
                return
            before, self.chosen, self.partitioned_by, alone = after, [], repartition_by, repartition_by is None
            self._take_large()

    def _begin(self) -> bool:
        """Choose the first atom, the largest, and the variable of the first step. True if there is no atom."""
        atoms = [e for e in self.open if isinstance(e.literal, Atom)]
        if not atoms:
            return True
        anchor = max(atoms, key=lambda e: (bool(list(e.atom.variables())), e.size))
        variables = list(dict.fromkeys(anchor.atom.variables()))
        scores = {v: self._local_to(v, anchor) for v in variables}
        best = max(variables, key=lambda v: (scores[v] > 0, not self._is_skewed(v), scores[v]), default=None)
        argument = 0
        if best is not None and scores[best]:
            argument = anchor.argument(best) or 0
            self.partitioned_by = best
        elif anchor.atom.args and isinstance(anchor.atom.args[0], Variable):
            self.partitioned_by = anchor.atom.args[0]
        self._choose(anchor, argument)
        self._take_large()
        return False

    def _local_to(self, variable: Variable, anchor: _PlanLiteral | None = None) -> int:
        """A score: the rows of large atoms that would be local if a step were partitioned by the variable."""
        others = (e for e in self._atoms() if e is not anchor and e.is_large)
        return sum(e.size + 1 for e in others if e.argument(variable) is not None)

    def _is_skewed(self, variable: Variable) -> bool:
        """Whether one shard would get too many rows if a step were partitioned by the variable."""
        read = [(e, e.argument(variable)) for e in self._atoms() if e.is_large]
        return any(a is not None and e.source is not None and self.skewed(e.source, a) for e, a in read)

    def _atoms(self) -> list[_PlanLiteral]:
        return [e for e in self.open if e.source is not None]

    def _choose(self, entry: _PlanLiteral, key: int) -> None:
        self.open.remove(entry)
        self.chosen.append((entry, key))
        if isinstance(entry.literal, Atom):
            self._bind(entry.atom.variables())
        elif isinstance(entry.literal, Assignment):
            self._bind((entry.literal.variable,))

    def _bind(self, variables: Iterator[Variable] | Sequence[Variable]) -> None:
        self.bound += [v for v in dict.fromkeys(variables) if v not in self.bound]

    def _take_large(self) -> None:
        """Choose all large atoms that are local in this step."""
        for entry in [e for e in self.open if isinstance(e.literal, Atom) and e.is_large]:
            argument = entry.argument(self.partitioned_by)
            if argument is not None:
                self._choose(entry, argument)

    def _fill(self) -> None:
        """Choose all other literals that can be evaluated in this step. An atom without a shared variable makes a
        product.
        """
        while True:
            ready = [(e, key) for e in self.open if (key := self._readable(e)) is not None]
            for entry, key in ready:
                self._choose(entry, key)
            if not ready:
                atoms = [e for e in self.open if isinstance(e.literal, Atom)]
                if not atoms or any(self._is_reached(e) for e in atoms):
                    return
                self._choose(min(atoms, key=lambda e: e.size), ALL)

    def _readable(self, entry: _PlanLiteral) -> int | None:
        """The key by which this step can read a literal now (ALL for a literal that reads nothing), or None."""
        literal = entry.literal
        if isinstance(literal, Condition | Assignment):
            return ALL if all(v in self.bound for v in expression_variables(literal.expression)) else None
        if isinstance(literal, Atom):
            is_large = entry.is_large and bool(list(entry.atom.variables()))
            return ALL if not is_large and self._is_reached(entry) else None
        shared = [v for v in literal_variables(literal) if v in self.binding]
        if any(v not in self.bound for v in shared):
            return None
        if not entry.is_large or not shared:
            return ALL
        return entry.argument(self.partitioned_by) if self.partitioned_by in shared else None

    def _is_reached(self, entry: _PlanLiteral) -> bool:
        variables = list(entry.atom.variables())
        return not variables or any(v in self.bound for v in variables)

    def _groups_are_here(self, alone: bool) -> bool:
        """Whether all matches of a group are at one shard. True if the rule has no aggregate."""
        return self.rule.aggregate is None or alone or self.partitioned_by in self._keys()

    def _keys(self) -> list[Variable]:
        return list(self.rule.heads[0].variables())

    def _next_variable(self) -> Variable | None:
        """The variable to shuffle the bindings by: that of most large atoms, else of a negated atom or an aggregate."""
        for kind in (Atom, Negation):
            waiting = [e for e in self.open if isinstance(e.literal, kind)]
            variables = [v for v in self.bound if any(e.argument(v) is not None for e in waiting)]
            if variables:
                return max(variables, key=lambda v: (not self._is_skewed(v), self._local_to(v)))
        return next(iter(self._keys()), None)

    def _step(
        self,
        before: tuple[Variable, ...] | None,
        after: tuple[Variable, ...] | None,
        alone: bool,
        repartition_by: Variable | None,
    ) -> PlanStep:
        order = {id(literal): i for i, literal in enumerate(self.rule.body)}
        chosen = sorted(self.chosen, key=lambda c: order[id(c[0].literal)])
        body: list[Literal] = [e.literal for e, _ in chosen]
        reads = [Read(e.source, key) for e, key in chosen if e.source is not None]
        if before is not None:
            body.insert(0, Atom(BINDINGS, before))
            reads.insert(0, Read(None, ALL))
        heads = self.rule.heads if after is None else (Atom(BINDINGS, after),)
        rule = replace(self.rule, heads=heads, body=tuple(body), name=None, location=None)
        return PlanStep(self.partitioned_by, rule, tuple(reads), alone, repartition_by)


def _literal(literal: Literal, reads: Iterator[Read]) -> str:
    text = format_literal(literal)
    if not isinstance(literal, Atom | Negation):
        return text
    read = next(reads)
    return text if read.source is None else f"{text}@{'all' if read.key == ALL else read.key}"
