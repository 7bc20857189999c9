"""Expressions over tables of solutions: each distinct combination of inputs is decoded and evaluated once.

    truth(expression, table)     1, 0 or -1 (error) for each row: what FILTER asks
    column(expression, table)    an id for each row, -1 for an error: what BIND asks

Connectives, tests of ids and comparisons work on whole columns. All else is evaluated for the distinct values of the
variables it mentions, as lists of terms, None being an error, and mapped back to the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tidelog.kernel.bindings import Bindings
from tidelog.kernel.rows import Ints
from tidelog.model.terms import FALSE, TRUE, Term
from tidelog.rules.syntax import Variable
from tidelog.sparql.algebra import Call, Exists, Expression, Pattern
from tidelog.sparql.comparison import effective
from tidelog.sparql.functions import Functions
from tidelog.sparql.limits import Guard
from tidelog.sparql.matching import test, tested
from tidelog.sparql.overlay import Overlay
from tidelog.sparql.scope import mentioned
from tidelog.sparql.tables import column_of, numbered

Truth = npt.NDArray[np.int8]
ROW = Variable(".row")  # numbers solutions, where an expression asks which one it is
Terms = list[Term | None]
Existence = Callable[[Pattern, Bindings], Truth]

_MANY = 500  # strings from which on they are tested together
_BLOCK = 65_536  # distinct inputs evaluated at a time
_BY_ROW = frozenset({"RAND", "UUID", "STRUUID", "BNODE"})  # differ from row to row with equal inputs


class Expressions:
    """Evaluates expressions for one query."""

    def __init__(self, overlay: Overlay, guard: Guard, exists: Existence) -> None:
        self.overlay = overlay
        self.guard = guard
        self.exists = exists
        self.functions = Functions(guard)

    def truth(self, expression: Expression, table: Bindings) -> Truth:
        match expression:
            case Call("&&", (left, right)):
                return _and(self.truth(left, table), self.truth(right, table))
            case Call("||", (left, right)):
                return _not(_and(_not(self.truth(left, table)), _not(self.truth(right, table))))
            case Call("!", (inner,)):
                return _not(self.truth(inner, table))
            case Call("BOUND", (Variable() as variable,)):
                return (column_of(table, variable) >= 0).astype(np.int8)
            case Call("=" | "!=" as operator, (left, right)) if _is_plain(left) and _is_plain(right):
                return self._same(operator, expression, left, right, table)
            case Exists(pattern):
                return self.exists(pattern, table)
            case _:
                found = self._tested(expression, table)
                return self._each(expression, table, self._truths) if found is None else found

    def _tested(self, expression: Expression, table: Bindings) -> Truth | None:
        """Tests of many strings, where all of them are simple."""
        asked = tested(expression) if table.length >= _MANY else None
        if asked is None:
            return None
        column = column_of(table, asked[0])
        number, first = numbered([column], len(column))
        found = test(self.overlay, column[first], *asked[1:]) if len(first) >= _MANY else None
        return None if found is None else found.astype(np.int8)[number]

    def _same(self, operator: str, call: Expression, left: Expression, right: Expression, table: Bindings) -> Truth:
        """`=` and `!=` of variables and constants: terms that are no literals are equal if they have the same id."""
        a, b = self.column(left, table), self.column(right, table)
        bound = (a >= 0) & (b >= 0)
        for side in (left, right):
            if isinstance(side, str) and side[0] != '"':
                return np.where(bound, (a == b) == (operator == "="), -1).astype(np.int8)
        return self._each(call, table, self._truths)

    def column(self, expression: Expression, table: Bindings) -> Ints:
        if isinstance(expression, Variable):
            return column_of(table, expression)
        if isinstance(expression, str):
            return np.full(table.length, self.overlay.encode(expression), dtype=np.int64)
        return self._each(expression, table, lambda e, t: self.overlay.encode_many(self.terms(e, t)))

    def _each(
        self,
        expression: Expression,
        table: Bindings,
        evaluate: Callable[[Expression, Bindings], npt.NDArray[np.signedinteger]],
    ) -> npt.NDArray[np.signedinteger]:
        """Evaluate for distinct inputs, a block at a time, and put the results back in their rows."""
        used = mentioned(expression)
        inputs = table.only([n for n in table.columns if n in used or n == ROW])
        back: Ints | None = None
        if not is_volatile(expression):
            back, first = numbered(list(inputs.columns.values()), inputs.length)
            inputs = inputs.take(first)
        results = []
        for start in range(0, inputs.length, _BLOCK):
            self.guard.check()
            rows = np.arange(start, min(start + _BLOCK, inputs.length))
            results.append(evaluate(expression, inputs.take(rows)))
        found = np.concatenate(results) if results else np.empty(0, dtype=np.int64)
        return found if back is None else found[back]

    def _truths(self, expression: Expression, table: Bindings) -> Truth:
        return truths(self.terms(expression, table))

    def terms(self, expression: Expression, table: Bindings) -> Terms:
        """The value of an expression in each row of a (small) table."""
        match expression:
            case Variable():
                return self.overlay.decode_many(column_of(table, expression))
            case Call(("&&" | "||" | "!" | "BOUND"), _) | Exists():
                return [None if t < 0 else TRUE if t else FALSE for t in self.truth(expression, table).tolist()]
            case Call("IF", (condition, yes, no)):
                chosen = self.truth(condition, table).tolist()
                return _choice(chosen, self.terms(yes, table), self.terms(no, table))
            case Call("BNODE", (text,)):
                return self.functions.blank_nodes(self.terms(text, table), column_of(table, ROW).tolist())
            case Call(function, args):
                return self.functions.apply(function, [self.terms(a, table) for a in args], table.length)
            case _:
                return [expression] * table.length


def _choice(chosen: Sequence[int], yes: Terms, no: Terms) -> Terms:
    return [None if c < 0 else y if c else n for c, y, n in zip(chosen, yes, no, strict=True)]


def truths(terms: Terms) -> Truth:
    """Effective boolean values."""
    known = {t: effective(t) for t in set(terms) if t is not None}
    values = {t: -1 if v is None else int(v) for t, v in known.items()}
    return np.array([-1 if t is None else values[t] for t in terms], dtype=np.int8)


def is_volatile(expression: Expression) -> bool:
    """Whether it may differ where its inputs are equal."""
    if not isinstance(expression, Call):
        return False
    return expression.function in _BY_ROW or any(map(is_volatile, expression.args))


def _is_plain(expression: Expression) -> bool:
    return isinstance(expression, Variable | str)


def _and(left: Truth, right: Truth) -> Truth:
    """False wins over an error, an error over true."""
    return np.where((left == 0) | (right == 0), 0, np.minimum(left, right)).astype(np.int8)


def _not(truth: Truth) -> Truth:
    return np.where(truth < 0, -1, 1 - truth).astype(np.int8)
