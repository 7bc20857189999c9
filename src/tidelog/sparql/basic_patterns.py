"""Basic graph patterns, matched by the engine's own joins from whatever bindings there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from tidelog.engines.local.compute import Computer
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.engines.local.pattern import Argument, Step
from tidelog.engines.local.pattern import Pattern as AtomPattern
from tidelog.engines.local.solve import Solver
from tidelog.kernel.bindings import UNIT, Bindings
from tidelog.model.vocabulary import TRIPLE
from tidelog.rules.syntax import Variable
from tidelog.sparql.algebra import BasicPattern, Node, PathPattern, Triple
from tidelog.sparql.limits import Guarded
from tidelog.sparql.lookups import FEW, look_up
from tidelog.sparql.overlay import Overlay
from tidelog.sparql.tables import bound_alike

Arguments = tuple[Argument, ...]

_MANY = 4096  # bindings from which on it may pay to match a pattern alone
_SMALLER = 16  # so many times fewer triples than bindings


class BasicPatterns:
    """Matches triples of one fact set for one query; `mentions` says how many parts of it use a variable."""

    def __init__(self, I: LocalFacts, overlay: Overlay, budget: Guarded, mentions: Mapping[Variable, int]) -> None:
        self.I = I
        self.overlay = overlay
        self.budget = budget
        self.mentions = mentions

    @cached_property
    def solver(self) -> Solver:
        return Solver(Computer(self.overlay.dictionary), self.budget)

    def extend(self, pattern: BasicPattern, bindings: Bindings) -> Iterator[Bindings]:
        """The bindings with the matches of all triples, each match a row."""
        triples = self._ids(pattern.triples)
        if triples is None:
            return
        variables = {a for args in triples for a in args if isinstance(a, Variable)}
        unwanted = {v for v in variables if self.mentions.get(v, 0) <= 1 and v not in bindings.columns}
        parts = (
            [bindings] if bindings is UNIT else bound_alike(bindings, [v for v in variables if v in bindings.columns])
        )
        for part in parts:
            yield from self._extend(triples, part, variables - unwanted, unwanted)

    def _extend(
        self, triples: Sequence[Arguments], part: Bindings, kept: set[Variable], unwanted: set[Variable]
    ) -> Iterator[Bindings]:
        found = look_up(self.I, triples, part) if part.length <= FEW else None
        left = range(len(triples))
        if found is not None:
            part, left = found
            if not left:
                yield part.only(part.columns.keys() - unwanted) if unwanted else part
                return
        steps: list[Step] = [AtomPattern(TRIPLE, triples[i], self.I) for i in left]
        wanted = kept | (part.columns.keys() - unwanted)
        for block in self.solver.solve_from(part, steps, wanted):  # type: ignore[arg-type]
            yield _each_match(block)

    def _ids(self, triples: Sequence[Triple]) -> list[Arguments] | None:
        """The triples with constants as ids; None if one of them has a term that no fact has."""
        found: list[Arguments] = []
        for triple in triples:
            args = tuple(self._argument(n) for n in (triple.subject, triple.predicate, triple.object))
            if any(isinstance(a, int) and a >= self.overlay.start for a in args):
                return None
            found.append(args)
        return found

    def _argument(self, node: Node) -> Argument:
        return node if isinstance(node, Variable) else self.overlay.encode(node)

    def is_smaller(self, pattern: BasicPattern | PathPattern, bindings: int) -> bool:
        """Whether a pattern is better matched alone than from so many bindings."""
        if bindings < _MANY or not isinstance(pattern, BasicPattern) or len(pattern.triples) != 1:
            return False
        triples = self._ids(pattern.triples)
        return triples is None or AtomPattern(TRIPLE, triples[0], self.I).count(UNIT) * _SMALLER < bindings


def _each_match(block: Bindings) -> Bindings:
    """Rows that stand for several matches, repeated."""
    if block.weight is None:
        return block
    rows = np.repeat(np.arange(block.length), block.weight)
    return replace(block, weight=None).take(rows)
