"""The fast path for changes of few facts: all rules at once, by lookups of single rows instead of joins of columns.

    atom_index    which of many atoms the facts of a small set match
    rule_shapes   rules that differ only in constants, ready to be joined from few facts
    join          joins from few facts
    forward       from facts to the heads that follow from them
    backward      from heads to the facts they could follow from

`SmallChanges` is the only name that the rest of the engine uses. Each verb returns what it found and the rules that it
left to the general path, or None if the general path has to run all rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from tidelog import tuning
from tidelog.algebra.engine import Work
from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.local.small.backward import Backward
from tidelog.engines.local.small.forward import Forward
from tidelog.engines.local.small.rule_shapes import RuleShapes
from tidelog.engines.local.supports import CandidateWindow
from tidelog.rules.syntax import Rule

T = TypeVar("T")


class SmallChanges:
    """The verbs of the fast path, for one dictionary."""

    def __init__(self, dictionary: Dictionary) -> None:
        shapes = RuleShapes(dictionary)
        self._forward = _ByRules(lambda rules: Forward(shapes, rules))
        self._backward = _ByRules(lambda rules: Backward(shapes, rules))

    def derive(
        self, rules: Sequence[Rule], left: LocalFacts, pivot: LocalFacts, right: LocalFacts, work: Work
    ) -> tuple[LocalFacts, list[tuple[Rule, int]]] | None:
        """The heads of matches with an atom in `pivot`, and the rules left with the positions of their pivots."""
        return self._forward.of(rules).heads(left, pivot, right, work)

    def supports(
        self, rules: Sequence[Rule], guards: LocalFacts, facts: LocalFacts, window: CandidateWindow, work: Work
    ) -> tuple[LocalFacts, LocalFacts, list[Rule], Sequence[Rule]] | None:
        """Body facts in the window, guards with more candidates, the rules left that the guards may match, and all
        rules that are left whatever the guards are.
        """
        backward = self._backward.of(rules)
        found = backward.supports(guards, facts, window, work)
        return None if found is None else (*found, backward.left)

    def proofs(
        self, rules: Sequence[Rule], guards: LocalFacts, facts: LocalFacts, work: Work
    ) -> tuple[LocalFacts, LocalFacts, LocalFacts, list[Rule]] | None:
        """Guards whose first candidate is a match, the other guards, body facts, and the rules left."""
        return self._backward.of(rules).proofs(guards, facts, work)


class _ByRules(Generic[T]):
    """A cache: one object for each set of rules."""

    def __init__(self, make: Callable[[Sequence[Rule]], T]) -> None:
        self._make = make
        self._made: dict[tuple[Rule, ...], T] = {}
        self._last: tuple[Sequence[Rule], T] | None = None

    def of(self, rules: Sequence[Rule]) -> T:
        last = self._last
        if last is not None and last[0] is rules:  # every round asks for the same rules: this saves their hash
            return last[1]
        key = tuple(rules)
        found = self._made.get(key)
        if found is None:
            if len(self._made) >= tuning.PREPARED_RULE_SETS:
                self._made.clear()
            found = self._made[key] = self._make(key)
        self._last = key, found
        return found
