"""Basic graph patterns, matched by the engine's own joins from whatever bindings there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

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
from tidelog.sparql.overlay import Overlay
from tidelog.sparql.tables import bound_alike

_MANY = 4096  # bindings from which on it may pay to match a pattern alone
_SMALLER = 16  # so many times fewer triples than bindings


class BasicPatterns:
    """Matches triples of one fact set for one query; `mentions` says how many parts of it use a variable."""

    def __init__(self, I: LocalFacts, overlay: Overlay, budget: Guarded, mentions: Mapping[Variable, int]) -> None:
        self.I = I
        self.overlay = overlay
        self.solver = Solver(Computer(overlay.dictionary), budget)
        self.mentions = mentions

    def extend(self, pattern: BasicPattern, bindings: Bindings) -> Iterator[Bindings]:
        """The bindings with the matches of all triples, each match a row."""
        steps = self._steps(pattern.triples)
        if steps is None:
            return
        variables = list(dict.fromkeys(v for t in pattern.triples for v in t.variables()))
        kept = {v for v in variables if self.mentions.get(v, 0) > 1}
        parts = (
            [bindings] if bindings is UNIT else bound_alike(bindings, [v for v in variables if v in bindings.columns])
        )
        for part in parts:
            for block in self.solver.solve_from(part, list(steps), kept | part.columns.keys()):  # type: ignore[arg-type]
                yield _each_match(block)

    def _steps(self, triples: Sequence[Triple]) -> list[Step] | None:
        """The triples as the engine's atoms; None if one of them has a term that no fact has."""
        steps: list[Step] = []
        for triple in triples:
            args = [self._argument(n) for n in (triple.subject, triple.predicate, triple.object)]
            if any(isinstance(a, int) and a >= self.overlay.start for a in args):
                return None
            steps.append(AtomPattern(TRIPLE, tuple(args), self.I))
        return steps

    def _argument(self, node: Node) -> Argument:
        return node if isinstance(node, Variable) else self.overlay.encode(node)

    def is_smaller(self, pattern: BasicPattern | PathPattern, bindings: int) -> bool:
        """Whether a pattern is better matched alone than from so many bindings."""
        if bindings < _MANY or not isinstance(pattern, BasicPattern) or len(pattern.triples) != 1:
            return False
        steps = self._steps(pattern.triples)
        return steps is None or all(isinstance(s, AtomPattern) and s.count(UNIT) * _SMALLER < bindings for s in steps)


def _each_match(block: Bindings) -> Bindings:
    """Rows that stand for several matches, repeated."""
    if block.weight is None:
        return block
    rows = np.repeat(np.arange(block.length), block.weight)
    return replace(block, weight=None).take(rows)
