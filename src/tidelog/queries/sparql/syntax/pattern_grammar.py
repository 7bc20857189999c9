"""Parses expressions and group graph patterns to the algebra (section 18.2.2).

An aggregate in an expression becomes a variable that the grouping binds.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

from tidelog.errors import did_you_mean
from tidelog.model.terms import Term
from tidelog.queries.sparql.syntax import algebra
from tidelog.queries.sparql.syntax.algebra import Expression, Pattern
from tidelog.queries.sparql.syntax.tokens import DECIMAL, DOUBLE, INTEGER, VARIABLE, WORD, T
from tidelog.queries.sparql.syntax.triple_grammar import Statement, TripleGrammar, Verb
from tidelog.rules.syntax import Variable

# The smallest and largest number of arguments of each built-in function (None: any number).
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
    """Parses expressions. `aggregates` collects the aggregates of the current SELECT; None where none is allowed."""

    aggregates: dict[algebra.AggregateCall, Variable] | None = None

    @abstractmethod
    def group_pattern(self) -> Pattern: ...

    def expression(self) -> Expression:
        left = self._conjunction()
        while self.sign("||"):
            left = algebra.FunctionCall("||", (left, self._conjunction()))
        return left

    def _conjunction(self) -> Expression:
        left = self._relation()
        while self.sign("&&"):
            left = algebra.FunctionCall("&&", (left, self._relation()))
        return left

    def _relation(self) -> Expression:
        left = self._sum()
        if operator := self.sign("=", "!=", "<", ">", "<=", ">="):
            return algebra.FunctionCall(operator, (left, self._sum()))
        if self.word("IN"):
            return algebra.FunctionCall("IN", (left, *self._arguments()))
        if self.is_word("NOT"):
            self.advance()
            self.expect_word("IN")
            return algebra.FunctionCall("!", (algebra.FunctionCall("IN", (left, *self._arguments())),))
        return left

    def _sum(self) -> Expression:
        left = self._product()
        while operator := self.sign("+", "-"):
            left = algebra.FunctionCall(operator, (left, self._product()))
        return left

    def _product(self) -> Expression:
        left = self._unary()
        while operator := self.sign("*", "/"):
            left = algebra.FunctionCall(operator, (left, self._unary()))
        return left

    def _unary(self) -> Expression:
        if self.sign("!"):
            return algebra.FunctionCall("!", (self._primary(),))
        if self.is_sign("+", "-") and self.peek().kind not in _NUMBER_KINDS:
            return algebra.FunctionCall(f"unary {self.advance().text}", (self._primary(),))
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
        """Parse the condition after FILTER or HAVING: an expression in brackets or a call."""
        if self.is_sign("("):
            return self.bracketted()
        if self.is_iri():
            name = self.iri()
            return self._function(name) if self.is_sign("(") else self.fail("'('")
        return self.built_in() if self.token.kind == WORD else self.fail("a condition: '(', or the name of a function")

    def _function(self, name: str) -> Expression:
        if self.peek().text.upper() == "DISTINCT":
            self.wrong("DISTINCT has no meaning for this function")
        return algebra.FunctionCall(name[1:-1], self._arguments())

    def _arguments(self) -> tuple[Expression, ...]:
        return tuple(self.listed(self.expression, ","))

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
            return algebra.FunctionCall("BOUND", (variable,))
        if name not in BUILT_INS:
            close = did_you_mean(name, (*BUILT_INS, *AGGREGATES, "BOUND", "EXISTS"))
            self.wrong(f"expected the name of a function, found {token.text!r}{close}")
        self.advance()
        least, most = BUILT_INS[name]
        args = self._arguments()
        if len(args) < least or (most is not None and len(args) > most):
            expected = str(least) if least == most else f"{least} to {most}"
            self.wrong(f"{name} takes {expected} argument{'' if expected == '1' else 's'}, not {len(args)}", token)
        name = _SYNONYMS.get(name, name)
        return algebra.FunctionCall(name, (*args, Term(f"<{self.base}>")) if name == "IRI" and self.base else args)

    def _exists(self) -> Expression:
        negated = bool(self.word("NOT"))
        self.expect_word("EXISTS")
        exists = algebra.Exists(self.group_pattern())
        return algebra.FunctionCall("!", (exists,)) if negated else exists

    def without_aggregates(self, read: Callable[[], T]) -> T:
        """Call `read` with aggregates forbidden."""
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

    def _aggregate_of(self, name: str) -> algebra.AggregateCall:
        self.expect("(")
        distinct = bool(self.word("DISTINCT"))
        expression = None if name == "COUNT" and self.sign("*") else self.expression()
        separator = " "
        if name == "GROUP_CONCAT" and self.sign(";"):
            self.expect_word("SEPARATOR")
            self.expect("=")
            separator = self.string()
        self.expect(")")
        return algebra.AggregateCall(name, expression, distinct, separator)


_DEEPEST = 100  # groups within groups


class PatternGrammar(ExpressionGrammar):
    """Parses the group graph pattern in braces after WHERE."""

    _depth = 0

    @abstractmethod
    def sub_select(self) -> Pattern: ...

    def group_pattern(self) -> Pattern:
        self._depth += 1
        if self._depth > _DEEPEST:
            self.wrong(f"groups are nested more than {_DEEPEST} deep")
        self.expect("{")
        outer, self.statements, labels, self.labels = self.statements, [], self.labels, set()
        pattern = self.without_aggregates(self.sub_select if self.is_word("SELECT") else self._group)
        self.expect("}")
        self.statements, self.labels = outer, labels
        self._depth -= 1
        return pattern

    def _group(self) -> Pattern:
        pattern: Pattern = algebra.UNIT
        filters: list[Expression] = []
        while not self.is_sign("}"):
            if self.starts_triples():
                self.triples_block()
                if not (self.is_sign("{", "}") or self.token.kind == WORD):
                    self.fail("'.', a group or '}'")
                continue
            if self.word("FILTER"):
                filters.append(self.constraint())
            elif self.token.kind == WORD or self.is_sign("{"):
                pattern = self._element(joined(pattern, self.finish_block()))
            else:
                self.fail("a triple, a group or '}'")
            self.sign(".")
        pattern = joined(pattern, self.finish_block())
        for condition in filters:
            pattern = algebra.Filter(pattern, condition)
        return pattern

    def finish_block(self) -> Pattern:
        """The triples since the last element of the group. Their blank nodes may not occur in other blocks."""
        statements, self.statements = self.statements, []
        for label in self.labels & self.used_labels:
            self.wrong(f"the blank node {label} is used in two basic graph patterns; use a variable", self.reused)
        self.used_labels |= self.labels
        self.labels = set()
        return self._block(statements)

    def _block(self, statements: Sequence[Statement]) -> Pattern:
        triples: list[algebra.Triple] = []
        paths: list[algebra.PathPattern] = []
        for subject, verb, object_ in statements:
            self._place(subject, verb, object_, triples, paths)
        pattern: Pattern = algebra.BasicPattern(tuple(triples))
        while paths:
            path = _next(paths, algebra.visible(pattern))
            paths.remove(path)
            pattern = joined(pattern, path)
        return pattern

    def _place(
        self,
        subject: algebra.Node,
        verb: Verb,
        object_: algebra.Node,
        triples: list[algebra.Triple],
        paths: list[algebra.PathPattern],
    ) -> None:
        """Add a statement to `triples`, or to `paths`. Sequences and inverses of single predicates become triples."""
        match verb:
            case Variable() | str():
                triples.append(algebra.Triple(subject, verb, object_))
            case algebra.Link(predicate):
                triples.append(algebra.Triple(subject, predicate, object_))
            case algebra.Inverse(path):
                self._place(object_, path, subject, triples, paths)
            case algebra.Sequence(first, second):
                middle = self.fresh()
                self._place(subject, first, middle, triples, paths)
                self._place(middle, second, object_, triples, paths)
            case _:
                paths.append(algebra.PathPattern(subject, verb, object_))

    def _element(self, before: Pattern) -> Pattern:
        """Parse an element of a group that is no triple, and combine it with the pattern before it."""
        if self.is_sign("{"):
            return joined(before, self._union())
        readers: dict[str, Callable[[Pattern], Pattern]] = {
            "OPTIONAL": lambda before: _optional(before, self.group_pattern()),
            "MINUS": lambda before: algebra.Minus(before, self.group_pattern()),
            "GRAPH": self._graph,
            "VALUES": lambda before: joined(before, self.data_block()),
            "BIND": self._bind,
            "SERVICE": self._service,
        }
        return readers[self.expect_word(*readers)](before)

    def _graph(self, before: Pattern) -> Pattern:
        name = self.variable() if self.token.kind == VARIABLE else self.iri()
        return joined(before, algebra.GraphPattern(name, self.group_pattern()))

    def _service(self, before: Pattern) -> Pattern:
        """Parse SERVICE to its end, so that a syntax error is reported before the query is refused."""
        self.word("SILENT")
        _ = self.variable() if self.token.kind == VARIABLE else self.iri()
        self.group_pattern()
        self.refused = "SERVICE is refused: a query is answered from the knowledge base and reads nothing from outside"
        return before

    def _bind(self, before: Pattern) -> Pattern:
        token = self.token
        self.expect("(")
        expression = self.expression()
        self.expect_word("AS")
        variable = self.variable()
        self.expect(")")
        if variable in algebra.visible(before):
            self.wrong(f"BIND cannot assign {variable}: it is already used in this group", token)
        return algebra.Extend(before, variable, expression)

    def _union(self) -> Pattern:
        pattern = self.group_pattern()
        while self.word("UNION"):
            pattern = algebra.Union(pattern, self.group_pattern())
        return pattern

    def data_block(self) -> algebra.Values:
        """Parse the data after VALUES."""
        single = self.token.kind == VARIABLE
        variables = [self.variable()] if single else self.listed(self.variable)
        self.expect("{")
        rows = []
        while not self.sign("}"):
            rows.append((self._data_value(),) if single else self._data_row(len(variables)))
        return algebra.Values(tuple(variables), tuple(rows))

    def _data_row(self, width: int) -> tuple[Term | None, ...]:
        token = self.token
        row = self.listed(self._data_value)
        if len(row) != width:
            self.wrong(f"VALUES names {width} variables, this row has {len(row)} values", token)
        return tuple(row)

    def _data_value(self) -> Term | None:
        if self.word("UNDEF"):
            return None
        if self.is_iri():
            return self.iri()
        return self.literal() or self.fail("an IRI, a literal or UNDEF")


def _next(paths: Sequence[algebra.PathPattern], bound: Sequence[Variable]) -> algebra.PathPattern:
    """The next path to join: the first with a constant or bound end, else the first."""
    ends = ((path, (path.subject, path.object)) for path in paths)
    return next((path for path, both in ends if any(isinstance(n, str) or n in bound for n in both)), paths[0])


def joined(left: Pattern, right: Pattern) -> Pattern:
    """The join. Two basic patterns become one, and a filter stays inside its own group, for `_optional`."""
    if right == algebra.UNIT:
        return left
    if left == algebra.UNIT and not isinstance(right, algebra.Filter):
        return right
    if isinstance(left, algebra.BasicPattern) and isinstance(right, algebra.BasicPattern):
        return algebra.BasicPattern(left.triples + right.triples)
    return algebra.Join(left, right)


def _optional(before: Pattern, group: Pattern) -> Pattern:
    """The left join. Filters of the optional group become its condition, because they see the pattern before it."""
    condition: Expression | None = None
    while isinstance(group, algebra.Filter):
        condition = group.condition if condition is None else algebra.FunctionCall("&&", (group.condition, condition))
        group = group.pattern
    return algebra.LeftJoin(before, group, condition)
