"""Basic graph patterns, matched by the joins of the local engine, starting from the bindings so far.

Also CONTAINS, STRSTARTS, STRENDS and REGEX on many plain strings at once, without making Python strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidelog import tuning
from tidelog.engines.local.expressions import ColumnEvaluator
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.local.plan import AtomPattern, BodyStep, PatternArgument
from tidelog.engines.local.solve import Solver
from tidelog.kernel.join import UNIT, Bindings
from tidelog.kernel.rows import Ints, Mask
from tidelog.model.terms import TRIPLE, Term
from tidelog.queries.limits import QueryBudget
from tidelog.queries.sparql.evaluate.lookups import Slots, TriplePlaces, look_up
from tidelog.queries.sparql.evaluate.query_dictionary import Overlay
from tidelog.queries.sparql.evaluate.tables import bound_alike
from tidelog.queries.sparql.prepared import Plan, Prepared
from tidelog.queries.sparql.syntax.algebra import BasicPattern, Expression, FunctionCall, PathPattern
from tidelog.rules.syntax import Variable
from tidelog.values.regex import xpath_pattern
from tidelog.values.sparql_functions import plain_text


class BasicPatterns:
    """Matches triples of one fact set for one query."""

    def __init__(self, I: LocalFacts, overlay: Overlay, budget: QueryBudget, prepared: Prepared) -> None:
        self.I = I
        self.overlay = overlay
        self.budget = budget
        self.prepared = prepared

    @cached_property
    def solver(self) -> Solver:
        return Solver(ColumnEvaluator(self.overlay.dictionary), self.budget)

    def extend(self, pattern: BasicPattern, bindings: Bindings) -> Iterator[Bindings]:
        """The bindings extended by the matches of all triples, one row for each match."""
        for block in self.weighted(pattern, bindings):
            yield from self._each_match(block)

    def weighted(self, pattern: BasicPattern, bindings: Bindings) -> Iterator[Bindings]:
        """Like `extend`, but a row may stand for several matches: `weight` is their number."""
        plan = self.prepared.plan(pattern)
        places = plan.places(self.overlay)
        if places is None:
            return
        shared = [v for v in plan.variables if v in bindings.columns]
        for part in [bindings] if bindings is UNIT else bound_alike(bindings, shared):
            is_small = part.length <= tuning.LOOKUP_BINDINGS
            yield from self._look_up(plan, places, part) if is_small else self._solve(plan, places, part)

    def _look_up(self, plan: Plan, places: Sequence[TriplePlaces], part: Bindings) -> Iterator[Bindings]:
        """For few bindings: match as many triples as possible by lookups, and the others by joins."""
        slots: Slots = [part.columns.get(v) for v in plan.variables]
        others = [n for n in part.columns if n not in plan.variables]
        slots += [part.columns[n] for n in others]
        found = look_up(self.I, places, slots, part.length)
        if found is None:
            yield from self._solve(plan, places, part)
            return
        length, left = found
        names = zip((*plan.variables, *others), slots, strict=True)
        part = Bindings({n: c for n, c in names if c is not None}, length)
        if left:
            yield from self._solve(plan, [places[i] for i in left], part)
        else:
            yield part

    def _solve(self, plan: Plan, places: Sequence[TriplePlaces], part: Bindings) -> Iterator[Bindings]:
        unwanted = plan.unwanted - part.columns.keys()
        wanted = (part.columns.keys() | set(plan.variables)) - unwanted
        yield from self.solver.solve_from(part, self._steps(plan, places), wanted)  # type: ignore[arg-type]

    def _steps(self, plan: Plan, places: Sequence[TriplePlaces]) -> list[BodyStep]:
        def argument(place: int) -> PatternArgument:
            return place if place >= 0 else plan.variables[~place]

        return [AtomPattern(TRIPLE, (argument(s), argument(p), argument(o)), self.I) for s, p, o in places]

    def _each_match(self, block: Bindings) -> Iterator[Bindings]:
        """Repeat each row as often as its weight says, in blocks."""
        if block.weight is None:
            yield block
            return
        plain, ends = replace(block, weight=None), np.cumsum(block.weight)
        size, total = self.budget.block_rows(len(block.columns)), int(ends[-1]) if block.length else 0
        for start in range(0, total, size):
            self.budget.tick()
            matches = np.arange(start, min(start + size, total))
            yield plain.take(np.searchsorted(ends, matches, "right"))

    def is_smaller(self, pattern: BasicPattern | PathPattern, bindings: int) -> bool:
        """Whether it is faster to match the pattern alone than from this number of bindings."""
        if bindings < tuning.MATCHED_ALONE or not isinstance(pattern, BasicPattern) or len(pattern.triples) != 1:
            return False
        plan = self.prepared.plan(pattern)
        places = plan.places(self.overlay)
        if places is None:
            return True
        (step,) = self._steps(plan, places)
        return isinstance(step, AtomPattern) and step.count(UNIT) * tuning.SMALL_PATTERN_RATIO < bindings


_TESTS: dict[str, Callable[[pa.Array, str], pa.Array]] = {
    "CONTAINS": pc.match_substring,
    "STRSTARTS": pc.starts_with,
    "STRENDS": pc.ends_with,
    "REGEX": pc.match_substring_regex,
}


def tested(expression: Expression) -> tuple[Variable, bool, str, str] | None:
    """(variable, whether STR is applied to it, function, pattern) if the expression tests a variable for a constant."""
    match expression:
        case FunctionCall(name, (subject, str() as wanted, *rest)) if name in _TESTS and all(
            isinstance(r, str) for r in rest
        ):
            constants = [plain_text(Term(c)) for c in (wanted, *rest) if isinstance(c, str)]
        case _:
            return None
    if any(c is None for c in constants):
        return None
    text, flags = constants[0], constants[1] if len(constants) > 1 else ""
    asked = xpath_pattern(str(text), str(flags)) if name == "REGEX" else text
    match subject:
        case Variable():
            return None if asked is None else (subject, False, name, asked)
        case FunctionCall("STR", (Variable() as variable,)):
            return None if asked is None else (variable, True, name, asked)
        case _:
            return None


def test(overlay: Overlay, ids: Ints, any_term: bool, name: str, asked: str) -> Mask | None:
    """Which terms pass a test; None if a term is not a plain string (with `any_term`: or an IRI)."""
    texts = _plain(overlay.decode_array(ids), any_term)
    if texts is None:
        return None
    found: Mask = _TESTS[name](texts, asked).to_numpy(zero_copy_only=False)
    return found


def _plain(terms: pa.Array, any_term: bool) -> pa.Array | None:
    """The texts of strings without language and escapes, and with `any_term` of IRIs; None if another term occurs."""
    texts = terms.cast(pa.large_string())
    simple = pc.and_(pc.starts_with(texts, '"'), pc.ends_with(texts, '"'))
    if any_term:
        simple = pc.or_(simple, pc.starts_with(texts, "<"))
    if terms.null_count or not pc.all(simple).as_py() or pc.any(pc.match_substring(texts, "\\")).as_py():
        return None
    return pc.utf8_slice_codeunits(texts, 1, -1)
