"""Expressions over tables of solutions: each distinct combination of inputs is decoded and evaluated once.

    truth(expression, table)     1, 0 or -1 (error) for each row, for FILTER
    column(expression, table)    an id for each row, -1 for an error, for BIND

Connectives, tests of ids and comparisons work on whole columns. Other expressions are evaluated for the distinct values
of their variables, as lists of terms, and mapped back to the rows. None is an error. A function of an error is one too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import repeat
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from tidelog import tuning
from tidelog.errors import UsageError
from tidelog.kernel.join import Bindings
from tidelog.kernel.rows import Ints
from tidelog.model.terms import FALSE, NOT_IN_IRI, TRUE, XSD, Term, boolean, double, iri, is_iri, literal, string
from tidelog.queries.limits import QueryBudget
from tidelog.queries.sparql.evaluate.basic_patterns import test, tested
from tidelog.queries.sparql.evaluate.query_dictionary import Overlay
from tidelog.queries.sparql.evaluate.tables import column_of, numbered
from tidelog.queries.sparql.syntax.algebra import Exists, Expression, FunctionCall, Pattern, mentioned
from tidelog.queries.sparql.syntax.tokens import resolve
from tidelog.rules.syntax import Variable
from tidelog.values import regex
from tidelog.values.literals import Function, string_term, tagged
from tidelog.values.sparql_comparison import effective, equal, order
from tidelog.values.sparql_functions import CASTS, TERM_FUNCTIONS, VALUE_FUNCTIONS, plain_text
from tidelog.values.sparql_numbers import calculate, number, number_term

Terms = list[Term | None]


def _comparison(test: Callable[[int], bool]) -> Function:
    def compare(a: Term, b: Term) -> Term | None:
        found = order(a, b)
        if found is None:
            return FALSE if number(a) is not None and number(b) is not None else None  # NaN
        return boolean(test(found))

    return compare


def _equality(wanted: bool) -> Function:
    def compare(a: Term, b: Term) -> Term | None:
        found = equal(a, b)
        return None if found is None else boolean(found is wanted)

    return compare


def _arithmetic(operator: str) -> Function:
    def compute(a: Term, b: Term) -> Term | None:
        x, y = number(a), number(b)
        found = None if x is None or y is None else calculate(operator, x, y)
        return None if found is None else number_term(found)

    return compute


def _make_iri(term: Term, base: Term | None = None) -> Term | None:
    """The IRI of a string or an IRI. A relative IRI is resolved against `base`."""
    if is_iri(term):
        return term
    text = plain_text(term)
    return None if text is None or NOT_IN_IRI.search(text) else iri(resolve(base[1:-1] if base else "", text))


SIMPLE: dict[str, Function] = {
    **TERM_FUNCTIONS,
    **VALUE_FUNCTIONS,
    **CASTS,
    "IRI": _make_iri,
    **{operator: _arithmetic(operator) for operator in "+-*/"},
    "=": _equality(True),
    "!=": _equality(False),
    "<": _comparison(lambda c: c < 0),
    ">": _comparison(lambda c: c > 0),
    "<=": _comparison(lambda c: c <= 0),
    ">=": _comparison(lambda c: c >= 0),
}


class Functions:
    """The functions of one query. NOW has one value for the whole query."""

    def __init__(self, budget: QueryBudget) -> None:
        self.budget = budget
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.now = literal(now.replace("+00:00", "Z"), f"{XSD}dateTime")
        self._labels: dict[tuple[int, str], Term] = {}
        self._own: dict[str, Callable[[Sequence[Terms], int], Terms]] = {
            "NOW": lambda _, length: [self.now] * length,
            "RAND": lambda _, length: [double(random.random()) for _ in range(length)],
            "UUID": lambda _, length: [iri(f"urn:uuid:{uuid4()}") for _ in range(length)],
            "STRUUID": lambda _, length: [string(str(uuid4())) for _ in range(length)],
            "BNODE": lambda _, length: [new_blank_node() for _ in range(length)],
            "COALESCE": _coalesce,
            "IN": _in,
            "REGEX": self._regex,
            "REPLACE": self._replace,
        }

    def apply(self, function: str, columns: Sequence[Terms], length: int) -> Terms:
        special = self._own.get(function)
        if special is not None:
            return special(columns, length)
        simple = SIMPLE.get(function)
        if simple is None:
            known = "there are the built-in ones and the casts of SPARQL 1.1"
            raise UsageError(f"there is no function <{function}>; {known}")
        if not columns:
            return [simple()] * length
        self.budget.tick()
        return [None if None in row else simple(*row) for row in zip(*columns, strict=True)]

    def blank_nodes(self, texts: Terms, rows: Sequence[int]) -> Terms:
        """BNODE of a text: one blank node for each text and solution."""
        found: Terms = []
        for text, row in zip(texts, rows, strict=True):
            plain = None if text is None else plain_text(text)
            found.append(None if plain is None else self._labels.setdefault((row, plain), new_blank_node()))
        return found

    def _regex(self, columns: Sequence[Terms], length: int) -> Terms:
        def some(texts: list[str], tags: list[str], pattern: str, flags: str) -> Terms | None:
            found = regex.matches(texts, pattern, flags)
            return None if found is None else [TRUE if f else FALSE for f in found]

        return self._by_pattern(columns[0], columns[1:2], columns[2:], length, some)

    def _replace(self, columns: Sequence[Terms], length: int) -> Terms:
        def some(texts: list[str], tags: list[str], pattern: str, replacement: str, flags: str) -> Terms | None:
            found = regex.replaced(texts, pattern, replacement, flags)
            return None if found is None else list(map(string_term, found, tags))

        return self._by_pattern(columns[0], columns[1:3], columns[3:], length, some)

    def _by_pattern(
        self,
        texts: Terms,
        given: Sequence[Terms],
        flags: Sequence[Terms],
        length: int,
        function: Callable[..., Terms | None],
    ) -> Terms:
        """Call `function` once for all rows with the same pattern and flags."""
        rows: dict[tuple[str | None, ...], list[int]] = {}
        constant: Sequence[Terms] = flags or [[string("")] * length]
        for at, key in enumerate(zip(*given, *constant, strict=True)):
            rows.setdefault(tuple(None if t is None else plain_text(t) for t in key), []).append(at)
        result: Terms = [None] * length
        for parts, places in rows.items():
            self.budget.tick()
            known = [(at, s) for at in places if (t := texts[at]) is not None and (s := tagged(t)) is not None]
            if None in parts or not known:
                continue
            found = function([s[0] for _, s in known], [s[1] for _, s in known], *parts)
            for (at, _), term in zip(known, found or repeat(None), strict=False):
                result[at] = term
        return result


def new_blank_node() -> Term:
    return Term(f"_:b{uuid4().hex}")


def _coalesce(columns: Sequence[Terms], length: int) -> Terms:
    rows = zip(*columns, strict=True) if columns else [()] * length
    return [next((t for t in row if t is not None), None) for row in rows]


def _in(columns: Sequence[Terms], length: int) -> Terms:
    """True if one value is equal; else an error if one value could not be compared; else false."""
    result: Terms = []
    for asked, *others in zip(*columns, strict=True):
        found = [None if asked is None or other is None else equal(asked, other) for other in others]
        result.append(TRUE if True in found else None if None in found or asked is None else FALSE)
    return result


Truth = npt.NDArray[np.int8]
ROW = Variable(".row")  # the number of the solution, for BNODE
Existence = Callable[[Pattern, Bindings], Truth]

_BY_ROW = frozenset({"RAND", "UUID", "STRUUID", "BNODE"})  # rows with equal inputs have different values


class Expressions:
    """Evaluates expressions for one query."""

    def __init__(self, overlay: Overlay, budget: QueryBudget, exists: Existence) -> None:
        self.overlay = overlay
        self.budget = budget
        self.exists = exists
        self.functions = Functions(budget)

    def truth(self, expression: Expression, table: Bindings) -> Truth:
        match expression:
            case FunctionCall("&&", (left, right)):
                return _and(self.truth(left, table), self.truth(right, table))
            case FunctionCall("||", (left, right)):
                return _not(_and(_not(self.truth(left, table)), _not(self.truth(right, table))))
            case FunctionCall("!", (inner,)):
                return _not(self.truth(inner, table))
            case FunctionCall("BOUND", (Variable() as variable,)):
                return (column_of(table, variable) >= 0).astype(np.int8)
            case FunctionCall("=" | "!=" as operator, (left, right)) if _is_plain(left) and _is_plain(right):
                return self._same(operator, expression, left, right, table)
            case Exists(pattern):
                return self.exists(pattern, table)
            case _:
                found = self._tested(expression, table)
                return self._each(expression, table, self._truths) if found is None else found

    def _tested(self, expression: Expression, table: Bindings) -> Truth | None:
        """The result if the expression tests many plain strings for a constant; else None."""
        asked = tested(expression) if table.length >= tuning.STRINGS_TOGETHER else None
        if asked is None:
            return None
        column = column_of(table, asked[0])
        number, first = numbered([column], len(column))
        found = test(self.overlay, column[first], *asked[1:]) if len(first) >= tuning.STRINGS_TOGETHER else None
        return None if found is None else found.astype(np.int8)[number]

    def _same(self, operator: str, call: Expression, left: Expression, right: Expression, table: Bindings) -> Truth:
        """`=` and `!=` of variables and constants. If one side is a constant that is no literal, ids are compared."""
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
        for start in range(0, inputs.length, tuning.EXPRESSION_INPUTS):
            self.budget.tick()
            rows = np.arange(start, min(start + tuning.EXPRESSION_INPUTS, inputs.length))
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
            case FunctionCall(("&&" | "||" | "!" | "BOUND"), _) | Exists():
                return [None if t < 0 else TRUE if t else FALSE for t in self.truth(expression, table).tolist()]
            case FunctionCall("IF", (condition, yes, no)):
                columns = self.truth(condition, table).tolist(), self.terms(yes, table), self.terms(no, table)
                return [None if truth < 0 else y if truth else n for truth, y, n in zip(*columns, strict=True)]
            case FunctionCall("BNODE", (text,)):
                return self.functions.blank_nodes(self.terms(text, table), column_of(table, ROW).tolist())
            case FunctionCall(function, args):
                return self.functions.apply(function, [self.terms(a, table) for a in args], table.length)
            case _:
                return [expression] * table.length


def truths(terms: Terms) -> Truth:
    """Effective boolean values."""
    known = {t: effective(t) for t in set(terms) if t is not None}
    values = {t: -1 if v is None else int(v) for t, v in known.items()}
    return np.array([-1 if t is None else values[t] for t in terms], dtype=np.int8)


def is_volatile(expression: Expression) -> bool:
    """Whether the expression may have different values for equal inputs."""
    if not isinstance(expression, FunctionCall):
        return False
    return expression.function in _BY_ROW or any(map(is_volatile, expression.args))


def _is_plain(expression: Expression) -> bool:
    return isinstance(expression, Variable | str)


def _and(left: Truth, right: Truth) -> Truth:
    """False wins over an error, an error over true."""
    return np.where((left == 0) | (right == 0), 0, np.minimum(left, right)).astype(np.int8)


def _not(truth: Truth) -> Truth:
    return np.where(truth < 0, -1, 1 - truth).astype(np.int8)
