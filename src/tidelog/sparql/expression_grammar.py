"""Expressions of the grammar. Aggregates become variables that the grouping binds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TypeVar

from tidelog.model.terms import Term
from tidelog.rules.syntax import Variable
from tidelog.sparql.algebra import Aggregate, Call, Exists, Expression, Pattern
from tidelog.sparql.tokens import DECIMAL, DOUBLE, INTEGER, VARIABLE, WORD
from tidelog.sparql.triple_grammar import TripleGrammar

T = TypeVar("T")

# How many arguments each built-in takes: least and most (None: any number).
BUILT_INS: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(("RAND", "NOW", "UUID", "STRUUID"), (0, 0)),
    **dict.fromkeys(("STR", "LANG", "DATATYPE", "IRI", "URI", "ABS", "CEIL", "FLOOR", "ROUND", "STRLEN"), (1, 1)),
    **dict.fromkeys(("UCASE", "LCASE", "ENCODE_FOR_URI", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES"), (1, 1)),
    **dict.fromkeys(("SECONDS", "TIMEZONE", "TZ", "MD5", "SHA1", "SHA256", "SHA384", "SHA512"), (1, 1)),
    **dict.fromkeys(("ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "ISNUMERIC"), (1, 1)),
    **dict.fromkeys(("LANGMATCHES", "CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER"), (2, 2)),
    **dict.fromkeys(("STRLANG", "STRDT", "SAMETERM"), (2, 2)),
    "BNODE": (0, 1),
    "CONCAT": (0, None),
    "COALESCE": (0, None),
    "SUBSTR": (2, 3),
    "REGEX": (2, 3),
    "REPLACE": (3, 4),
    "IF": (3, 3),
}
AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT")
_SYNONYMS = {"URI": "IRI", "ISURI": "ISIRI"}
_NUMBER_KINDS = (INTEGER, DECIMAL, DOUBLE)


class ExpressionGrammar(TripleGrammar):
    """Reads expressions; `aggregates` collects those of the SELECT that is being read, None where there may be none."""

    aggregates: dict[Aggregate, Variable] | None = None

    @abstractmethod
    def group_pattern(self) -> Pattern: ...

    def expression(self) -> Expression:
        left = self._conjunction()
        while self.sign("||"):
            left = Call("||", (left, self._conjunction()))
        return left

    def _conjunction(self) -> Expression:
        left = self._relation()
        while self.sign("&&"):
            left = Call("&&", (left, self._relation()))
        return left

    def _relation(self) -> Expression:
        left = self._sum()
        if operator := self.sign("=", "!=", "<", ">", "<=", ">="):
            return Call(operator, (left, self._sum()))
        if self.word("IN"):
            return Call("IN", (left, *self.arguments()))
        if self.is_word("NOT"):
            self.advance()
            self.expect_word("IN")
            return Call("!", (Call("IN", (left, *self.arguments())),))
        return left

    def _sum(self) -> Expression:
        left = self._product()
        while operator := self.sign("+", "-"):
            left = Call(operator, (left, self._product()))
        return left

    def _product(self) -> Expression:
        left = self._unary()
        while operator := self.sign("*", "/"):
            left = Call(operator, (left, self._unary()))
        return left

    def _unary(self) -> Expression:
        if self.sign("!"):
            return Call("!", (self._primary(),))
        if self.is_sign("+", "-") and self.peek().kind not in _NUMBER_KINDS:
            return Call(f"unary {self.advance().text}", (self._primary(),))
        return self._primary()

    def _primary(self) -> Expression:
        if self.is_sign("("):
            return self.bracketted()
        if self.token.kind == VARIABLE:
            return self.variable()
        if self.is_iri():
            name = self.iri()
            return self._function(name) if self.is_sign("(") else name
        found = self.literal()
        if found is not None:
            return found
        return self.built_in() if self.token.kind == WORD else self.fail("an expression")

    def bracketted(self) -> Expression:
        self.expect("(")
        inner = self.expression()
        self.expect(")")
        return inner

    def constraint(self) -> Expression:
        """What may follow FILTER and HAVING: brackets or a call."""
        if self.is_sign("("):
            return self.bracketted()
        if self.is_iri():
            name = self.iri()
            return self._function(name) if self.is_sign("(") else self.fail("'('")
        return self.built_in() if self.token.kind == WORD else self.fail("a condition: '(', or the name of a function")

    def arguments(self) -> tuple[Expression, ...]:
        self.expect("(")
        found: list[Expression] = []
        while not self.sign(")"):
            if found:
                self.expect(",")
            found.append(self.expression())
        return tuple(found)

    def _function(self, name: str) -> Expression:
        if self.peek().text.upper() == "DISTINCT":
            self.wrong("DISTINCT has no meaning for this function")
        return Call(name[1:-1], self.arguments())

    def built_in(self) -> Expression:
        token = self.token
        name = token.text.upper()
        if name in AGGREGATES:
            return self._aggregate()
        if name in ("EXISTS", "NOT"):
            return self._exists()
        if name == "BOUND":
            self.advance()
            self.expect("(")
            variable = self.variable()
            self.expect(")")
            return Call("BOUND", (variable,))
        if name not in BUILT_INS:
            self.fail("the name of a function")
        self.advance()
        least, most = BUILT_INS[name]
        args = self.arguments()
        if len(args) < least or (most is not None and len(args) > most):
            expected = str(least) if least == most else f"{least} to {most}"
            self.wrong(f"{name} takes {expected} arguments, not {len(args)}", token)
        name = _SYNONYMS.get(name, name)
        return Call(name, (*args, Term(f"<{self.base}>")) if name == "IRI" and self.base else args)

    def _exists(self) -> Expression:
        negated = bool(self.word("NOT"))
        self.expect_word("EXISTS")
        exists = Exists(self.group_pattern())
        return Call("!", (exists,)) if negated else exists

    def without_aggregates(self, read: Callable[[], T]) -> T:
        """Read something where the aggregates of the SELECT around it have no place."""
        before, self.aggregates = self.aggregates, None
        found = read()
        self.aggregates = before
        return found

    def _aggregate(self) -> Expression:
        token = self.advance()
        collected = self.aggregates
        if collected is None:
            self.wrong(f"{token.text} cannot stand here: aggregates belong to SELECT, HAVING and ORDER BY", token)
        aggregate = self.without_aggregates(lambda: self._aggregate_of(token.text.upper()))
        return collected.setdefault(aggregate, Variable(f".aggregate{len(collected)}"))

    def _aggregate_of(self, name: str) -> Aggregate:
        self.expect("(")
        distinct = bool(self.word("DISTINCT"))
        expression = None if name == "COUNT" and self.sign("*") else self.expression()
        separator = " "
        if name == "GROUP_CONCAT" and self.sign(";"):
            self.expect_word("SEPARATOR")
            self.expect("=")
            separator = self.string()
        self.expect(")")
        return Aggregate(name, expression, distinct, separator)
