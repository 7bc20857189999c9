"""Applying functions to columns of terms. None is an error, and the result of a function whose argument is one."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import repeat
from uuid import uuid4

from tidelog.errors import UsageError
from tidelog.model.terms import FALSE, TRUE, Term, boolean, double, iri, literal, string
from tidelog.model.vocabulary import XSD
from tidelog.rules.values import tagged
from tidelog.sparql import regular
from tidelog.sparql.comparison import equal, order
from tidelog.sparql.limits import Guard
from tidelog.sparql.numbers import calculate, number, number_term
from tidelog.sparql.term_functions import CASTS, TERM_FUNCTIONS, Function, plain_text
from tidelog.sparql.value_functions import VALUE_FUNCTIONS, text_term

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


SIMPLE: dict[str, Function] = {
    **TERM_FUNCTIONS,
    **VALUE_FUNCTIONS,
    **CASTS,
    **{operator: _arithmetic(operator) for operator in "+-*/"},
    "=": _equality(True),
    "!=": _equality(False),
    "<": _comparison(lambda c: c < 0),
    ">": _comparison(lambda c: c > 0),
    "<=": _comparison(lambda c: c <= 0),
    ">=": _comparison(lambda c: c >= 0),
}


class Functions:
    """The functions of one query: NOW is the same for all of it."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.now = literal(
            datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"), f"{XSD}dateTime"
        )
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
            raise UsageError(
                f"there is no function <{function}>; there are the built-in ones and the casts of SPARQL 1.1"
            )
        if not columns:
            return [simple()] * length
        self.guard.check()
        return [None if None in row else simple(*row) for row in zip(*columns, strict=True)]

    def blank_nodes(self, texts: Terms, rows: Sequence[int]) -> Terms:
        """BNODE of a text: one for each text and solution."""
        found: Terms = []
        for text, row in zip(texts, rows, strict=True):
            plain = None if text is None else plain_text(text)
            found.append(None if plain is None else self._labels.setdefault((row, plain), new_blank_node()))
        return found

    def _regex(self, columns: Sequence[Terms], length: int) -> Terms:
        def some(texts: list[str], tags: list[str], pattern: str, flags: str) -> Terms | None:
            found = regular.matches(texts, pattern, flags)
            return None if found is None else [TRUE if f else FALSE for f in found]

        return self._by_pattern(columns[0], columns[1:2], columns[2:], length, some)

    def _replace(self, columns: Sequence[Terms], length: int) -> Terms:
        def some(texts: list[str], tags: list[str], pattern: str, replacement: str, flags: str) -> Terms | None:
            found = regular.replaced(texts, pattern, replacement, flags)
            return None if found is None else list(map(text_term, found, tags))

        return self._by_pattern(columns[0], columns[1:3], columns[3:], length, some)

    def _by_pattern(
        self,
        texts: Terms,
        given: Sequence[Terms],
        flags: Sequence[Terms],
        length: int,
        function: Callable[..., Terms | None],
    ) -> Terms:
        """Rows with the same pattern are matched together."""
        rows: dict[tuple[str | None, ...], list[int]] = {}
        constant: Sequence[Terms] = flags or [[string("")] * length]
        for at, key in enumerate(zip(*given, *constant, strict=True)):
            rows.setdefault(tuple(None if t is None else plain_text(t) for t in key), []).append(at)
        result: Terms = [None] * length
        for parts, places in rows.items():
            self.guard.check()
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
    """True if one is equal; else an error if one could not be compared."""
    result: Terms = []
    for asked, *others in zip(*columns, strict=True):
        found = [None if asked is None or other is None else equal(asked, other) for other in others]
        result.append(TRUE if True in found else None if None in found or asked is None else FALSE)
    return result
