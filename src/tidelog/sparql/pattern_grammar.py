"""Group graph patterns of the grammar, made into the algebra (section 18.2.2)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from collections.abc import Sequence as Several

from tidelog.model.terms import Term
from tidelog.rules.syntax import Variable
from tidelog.sparql.algebra import (
    UNIT,
    BasicPattern,
    Call,
    Expression,
    Extend,
    Filter,
    Graph,
    Inverse,
    Join,
    LeftJoin,
    Link,
    Minus,
    Node,
    PathPattern,
    Pattern,
    Sequence,
    Triple,
    Union,
    Values,
)
from tidelog.sparql.expression_grammar import ExpressionGrammar
from tidelog.sparql.scope import visible
from tidelog.sparql.tokens import VARIABLE, WORD
from tidelog.sparql.triple_grammar import Statement, Verb

_DEEPEST = 100  # groups within groups


class PatternGrammar(ExpressionGrammar):
    """Reads what stands in braces after WHERE."""

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
        pattern: Pattern = UNIT
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
            pattern = Filter(pattern, condition)
        return pattern

    def finish_block(self) -> Pattern:
        """The triples read since the last element of the group; their blank nodes may not occur in other blocks."""
        statements, self.statements = self.statements, []
        for label in self.labels & self.used_labels:
            self.wrong(f"the blank node {label} is used in two basic graph patterns; use a variable", self.reused)
        self.used_labels |= self.labels
        self.labels = set()
        return self._block(statements)

    def _block(self, statements: Several[Statement]) -> Pattern:
        triples: list[Triple] = []
        paths: list[PathPattern] = []
        for subject, verb, object_ in statements:
            self._place(subject, verb, object_, triples, paths)
        pattern: Pattern = BasicPattern(tuple(triples))
        while paths:
            path = _next(paths, visible(pattern))
            paths.remove(path)
            pattern = joined(pattern, path)
        return pattern

    def _place(self, subject: Node, verb: Verb, object_: Node, triples: list[Triple], paths: list[PathPattern]) -> None:
        """A sequence of links is a few triples; what is left are paths."""
        match verb:
            case Variable() | str():
                triples.append(Triple(subject, verb, object_))
            case Link(predicate):
                triples.append(Triple(subject, predicate, object_))
            case Inverse(path):
                self._place(object_, path, subject, triples, paths)
            case Sequence(first, second):
                middle = self.fresh()
                self._place(subject, first, middle, triples, paths)
                self._place(middle, second, object_, triples, paths)
            case _:
                paths.append(PathPattern(subject, verb, object_))

    def _element(self, before: Pattern) -> Pattern:
        """A part of a group that is not a triple, put together with what comes before it."""
        if self.is_sign("{"):
            return joined(before, self._union())
        readers: dict[str, Callable[[Pattern], Pattern]] = {
            "OPTIONAL": lambda before: _optional(before, self.group_pattern()),
            "MINUS": lambda before: Minus(before, self.group_pattern()),
            "GRAPH": self._graph,
            "VALUES": lambda before: joined(before, self.data_block()),
            "BIND": self._bind,
            "SERVICE": self._service,
        }
        return readers[self.expect_word(*readers)](before)

    def _graph(self, before: Pattern) -> Pattern:
        name = self.variable() if self.token.kind == VARIABLE else self.iri()
        return joined(before, Graph(name, self.group_pattern()))

    def _service(self, before: Pattern) -> Pattern:
        """Read to the end, so that a query is either wrong or refused, whatever else it holds."""
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
        if variable in visible(before):
            self.wrong(f"BIND cannot assign {variable}: it is already used in this group", token)
        return Extend(before, variable, expression)

    def _union(self) -> Pattern:
        pattern = self.group_pattern()
        while self.word("UNION"):
            pattern = Union(pattern, self.group_pattern())
        return pattern

    def data_block(self) -> Values:
        """What follows VALUES."""
        single = self.token.kind == VARIABLE
        variables = [self.variable()] if single else self._variables()
        self.expect("{")
        rows = []
        while not self.sign("}"):
            rows.append((self._data_value(),) if single else self._data_row(len(variables)))
        return Values(tuple(variables), tuple(rows))

    def _variables(self) -> list[Variable]:
        self.expect("(")
        found = []
        while not self.sign(")"):
            found.append(self.variable())
        return found

    def _data_row(self, width: int) -> tuple[Term | None, ...]:
        token = self.token
        self.expect("(")
        row = []
        while not self.sign(")"):
            row.append(self._data_value())
        if len(row) != width:
            self.wrong(f"VALUES names {width} variables, this row has {len(row)} values", token)
        return tuple(row)

    def _data_value(self) -> Term | None:
        if self.word("UNDEF"):
            return None
        if self.is_iri():
            return self.iri()
        return self.literal() or self.fail("an IRI, a literal or UNDEF")


def _next(paths: Several[PathPattern], bound: Several[Variable]) -> PathPattern:
    """A path of which an end is known by then, if there is one."""
    ends = ((path, (path.subject, path.object)) for path in paths)
    return next((path for path, both in ends if any(isinstance(n, str) or n in bound for n in both)), paths[0])


def joined(left: Pattern, right: Pattern) -> Pattern:
    """The join; triples that are joined are one pattern, and a filter stays inside its own group, for `_optional`."""
    if right == UNIT:
        return left
    if left == UNIT and not isinstance(right, Filter):
        return right
    if isinstance(left, BasicPattern) and isinstance(right, BasicPattern):
        return BasicPattern(left.triples + right.triples)
    return Join(left, right)


def _optional(before: Pattern, group: Pattern) -> Pattern:
    """The filters of an optional group see what comes before it."""
    condition: Expression | None = None
    while isinstance(group, Filter):
        condition = group.condition if condition is None else Call("&&", (group.condition, condition))
        group = group.pattern
    return LeftJoin(before, group, condition)
