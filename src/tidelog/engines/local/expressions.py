"""Conditions and assignments over columns of ids: each distinct combination of inputs is evaluated once.

Two terms that are not literals are equal only if they are the same term. So `=` and `!=` on names and IRIs compare ids
without decoding them. All other expressions use `tidelog.rules.expressions`, like the reference engine.

`TermKinds` keeps one byte per term, so that conditions such as `ISLITERAL(?x)` decode each term at most once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.kernel.join import Bindings, group
from tidelog.kernel.rows import Ints, Mask
from tidelog.model.terms import Term
from tidelog.rules.expressions import evaluate_columns
from tidelog.rules.syntax import Aggregate, Assignment, Call, Condition, Expression, Variable, expression_variables
from tidelog.values.literals import truth

IRI, BLANK, STRING, TYPED = range(4)  # STRING: with or without a language; TYPED: any other literal
_UNKNOWN = 255
_QUOTE, _LESS, _GREATER = b'"<>'


class TermKinds:
    """The kinds of the terms of one dictionary."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._kinds = np.empty(0, dtype=np.uint8)

    def of(self, ids: Ints) -> npt.NDArray[np.uint8]:
        """The kind of each id."""
        known = self._kinds
        if len(known) < len(self.dictionary):
            larger = np.full(len(self.dictionary) * 3 // 2, _UNKNOWN, dtype=np.uint8)
            larger[: len(known)] = known
            known = self._kinds = larger  # two threads may do this; kinds that one of them found are then found again
        kinds = known[ids]
        if (kinds == _UNKNOWN).any():
            self._learn(known, np.unique(ids[kinds == _UNKNOWN]))
            kinds = known[ids]
        return kinds

    def are_literals(self, ids: Ints) -> Mask:
        literals: Mask = self.of(ids) >= STRING
        return literals

    def are_typed(self, ids: Ints) -> Mask:
        typed: Mask = self.of(ids) == TYPED
        return typed

    def _learn(self, known: npt.NDArray[np.uint8], ids: Ints) -> None:
        for start in range(0, len(ids), tuning.KIND_TERMS):
            some = ids[start : start + tuning.KIND_TERMS]
            known[some] = self._look(some)

    def _look(self, ids: Ints) -> npt.NDArray[np.uint8]:
        """The kinds of terms, from the first and the last character of each text."""
        array = self.dictionary.decode_array(ids)
        _, offsets, data = array.buffers()
        width = np.int64 if pa.types.is_large_binary(array.type) else np.int32
        ends = np.frombuffer(offsets, dtype=width)[array.offset : array.offset + len(array) + 1]
        texts = np.frombuffer(data, dtype=np.uint8)
        first, last = texts[ends[:-1]], texts[ends[1:] - 1]
        literal = np.where(last == _GREATER, TYPED, STRING)
        return np.where(first == _QUOTE, literal, np.where(first == _LESS, IRI, BLANK)).astype(np.uint8)


_UNDEFINED = -1
_ON_TERMS = frozenset({"SAMETERM", "ISLITERAL", "ISTYPED"})


class ColumnEvaluator:
    """Evaluates expressions over bindings with one dictionary."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.kinds = TermKinds(dictionary)
        self.tick: Callable[[], None] = _no_check

    def encode(self, term: Term | Aggregate) -> int:
        assert isinstance(term, str)
        return self.dictionary.encode(term)

    def apply(self, step: Condition | Assignment, bindings: Bindings) -> Bindings:
        """The bindings that satisfy a condition, or the bindings with an assigned value in a new column."""
        if isinstance(step, Condition):
            return bindings.take(self._holds(step.expression, bindings))
        column = self._evaluate(step.expression, bindings)
        defined = column != _UNDEFINED
        if step.variable in bindings.columns:
            return bindings.take(defined & (column == bindings.columns[step.variable]))
        return bindings.with_column(step.variable, column).take(defined)

    def _evaluate(self, expression: Expression, bindings: Bindings) -> Ints:
        if isinstance(expression, Variable):
            return bindings.columns[expression]
        encode = self.dictionary.encode
        return self._for_each_input(expression, bindings, lambda term: _UNDEFINED if term is None else encode(term))

    def _holds(self, expression: Expression, bindings: Bindings) -> Mask:
        if isinstance(expression, Call) and expression.function == "NOT":
            return self._holds_not(expression, bindings)
        if isinstance(expression, Call) and not _computed(expression):
            columns = [self._column(a, bindings) for a in expression.args]
            match expression.function:
                case "SAMETERM":
                    return columns[0] == columns[1]  # type: ignore[no-any-return]
                case "ISLITERAL":
                    return self.kinds.are_literals(columns[0])
                case "ISTYPED":
                    return self.kinds.are_typed(columns[0])
                case "=" | "!=":
                    return self._same(expression, columns[0], columns[1], bindings)
        return self._holds_generally(expression, bindings)

    def _holds_not(self, negation: Call, bindings: Bindings) -> Mask:
        """A condition on terms (not values) is never an error, so its negation is its complement."""
        (inner,) = negation.args
        if isinstance(inner, Call) and inner.function in _ON_TERMS and not _computed(inner):
            return ~self._holds(inner, bindings)
        return self._holds_generally(negation, bindings)

    def _holds_generally(self, expression: Expression, bindings: Bindings) -> Mask:
        found = self._for_each_input(expression, bindings, lambda term: term is not None and truth(term) is True)
        return found.astype(np.bool_)

    def _same(self, call: Call, left: Ints, right: Ints, bindings: Bindings) -> Mask:
        """`=` and `!=` between variables and constants: by id, and by value where both are literals."""
        result: Mask = left == right if call.function == "=" else left != right
        by_value = self.kinds.are_literals(left) & self.kinds.are_literals(right)
        if by_value.any():
            result[by_value] = self._holds_generally(call, bindings.take(by_value))
        return result

    def _column(self, arg: Expression, bindings: Bindings) -> Ints:
        if isinstance(arg, Variable):
            return bindings.columns[arg]
        return np.full(bindings.length, self.encode(arg), dtype=np.int64)  # type: ignore[arg-type]

    def _for_each_input(self, expression: Expression, bindings: Bindings, number: Callable[[Term | None], int]) -> Ints:
        """`number` of the value of the expression for each row; computed once per distinct combination of inputs."""
        variables = list(dict.fromkeys(expression_variables(expression)))
        columns = [bindings.columns[v] for v in variables]
        inverse, first = group(columns, bindings.length)
        results: list[int] = []
        for rows in _slices(first):
            self.tick()
            decoded = [self.dictionary.decode_many(c[rows]) for c in columns]
            terms = evaluate_columns(expression, dict(zip(variables, decoded, strict=True)), len(rows))
            results.extend(map(number, terms))
        return np.array(results, dtype=np.int64)[inverse]


def _no_check() -> None:
    """Default of `tick`, which is called between pieces of long work: never stops the query."""


def _slices(array: Ints) -> Iterator[Ints]:
    """An array in slices of `tuning.COMPUTED_INPUTS`."""
    return (array[start : start + tuning.COMPUTED_INPUTS] for start in range(0, len(array), tuning.COMPUTED_INPUTS))


def _computed(call: Call) -> bool:
    """Whether an argument is itself a call."""
    return any(isinstance(a, Call) for a in call.args)
