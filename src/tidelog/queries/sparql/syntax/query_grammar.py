"""Parses query forms and solution modifiers to the algebra (section 18.2.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidelog.errors import UsageError
from tidelog.model.terms import Term
from tidelog.queries.sparql.syntax import algebra
from tidelog.queries.sparql.syntax.algebra import Expression, Pattern
from tidelog.queries.sparql.syntax.pattern_grammar import PatternGrammar, joined
from tidelog.queries.sparql.syntax.tokens import END, INTEGER, VARIABLE, T, Token
from tidelog.rules.syntax import Variable

Key = tuple[Variable, Expression]


@dataclass(frozen=True, slots=True)
class _Modifiers:
    """The solution modifiers after WHERE { … }."""

    keys: tuple[Key, ...] | None
    having: tuple[Expression, ...]
    order: tuple[tuple[Expression, bool], ...]
    offset: int
    limit: int | None
    aggregates: dict[algebra.AggregateCall, Variable]
    values: Pattern

    @property
    def groups(self) -> bool:
        return self.keys is not None or bool(self.aggregates) or bool(self.having)

    def grouped(self, pattern: Pattern) -> Pattern:
        if self.groups:
            results = tuple((variable, aggregate) for aggregate, variable in self.aggregates.items())
            pattern = algebra.Group(pattern, self.keys or (), results, self.keys is None)
        for condition in self.having:
            pattern = algebra.Filter(pattern, condition)
        return joined(pattern, self.values)

    def ordered(self, pattern: Pattern) -> Pattern:
        return algebra.Order(pattern, self.order) if self.order else pattern

    def sliced(self, pattern: Pattern) -> Pattern:
        return algebra.Slice(pattern, self.offset, self.limit) if self.offset or self.limit is not None else pattern


class QueryGrammar(PatternGrammar):
    """Parses a query."""

    def query(self) -> algebra.Query:
        self.prologue()
        forms: dict[str, Callable[[], algebra.Query]] = {
            "SELECT": self._select,
            "CONSTRUCT": self._construct,
            "DESCRIBE": self._describe,
            "ASK": self._ask,
        }
        query = forms[self.expect_word(*forms)]()
        if self.token.kind != END:
            self.fail("the end of the query")
        if self.refused:
            raise UsageError(self.refused)
        return query

    def _dataset(self) -> None:
        while self.word("FROM"):
            self.word("NAMED")
            self.iri()
            self.refused = (
                "FROM is refused: a query is answered from the facts of the knowledge base, which has no named graphs "
                "and reads nothing from outside; load the data first"
            )

    def _select(self) -> algebra.Select:
        pattern = self.select_clause()
        return algebra.Select(pattern, algebra.visible(pattern))

    def sub_select(self) -> Pattern:
        self.advance()
        return self.select_clause()

    def _ask(self) -> algebra.Ask:
        self._dataset()
        return algebra.Ask(self._unprojected(self._where()))

    def _unprojected(self, pattern: Pattern) -> Pattern:
        """A pattern with its modifiers, without projection."""
        modifiers = self._modifiers({})
        return modifiers.sliced(modifiers.ordered(modifiers.grouped(pattern)))

    def _construct(self) -> algebra.Construct:
        if self.is_word("WHERE", "FROM"):
            return self._short_construct()
        template = self.template_triples()
        self.labels = set()
        self._dataset()
        return algebra.Construct(self._unprojected(self._where()), template)

    def _short_construct(self) -> algebra.Construct:
        """CONSTRUCT WHERE: the pattern is the template."""
        self._dataset()
        token = self.token
        self.expect_word("WHERE")
        self.expect("{")
        self.triples_block()
        self.expect("}")
        pattern = self.finish_block()
        if not isinstance(pattern, algebra.BasicPattern):
            self.wrong("CONSTRUCT WHERE takes triples without paths; write CONSTRUCT { … } WHERE { … }", token)
        return algebra.Construct(self._unprojected(pattern), tuple(map(_as_template, pattern.triples)))

    def template_triples(self, data: bool = False) -> tuple[algebra.Triple, ...]:
        """Parse triples in braces. Their blank nodes are new for each solution."""
        self.template = True
        self.expect("{")
        self.template_block(data)
        self.expect("}")
        self.template = False
        statements, self.statements = self.statements, []
        return tuple(algebra.Triple(s, p, o) for s, p, o in statements if isinstance(p, Variable | str))

    def template_block(self, data: bool) -> None:
        self.triples_block()

    def _describe(self) -> algebra.Describe:
        starred = bool(self.sign("*"))
        resources: list[algebra.Node] = []
        while not starred and (self.token.kind == VARIABLE or self.is_iri()):
            resources.append(self.node())
        if not starred and not resources:
            self.fail("'*', a variable or an IRI")
        self._dataset()
        pattern = self._where() if starred or self.is_word("WHERE") or self.is_sign("{") else algebra.UNIT
        if starred:
            resources += [v for v in algebra.visible(pattern) if algebra.is_named(v)]
        return algebra.Describe(self._unprojected(pattern), tuple(resources))

    def _where(self) -> Pattern:
        self.word("WHERE")
        return self.group_pattern()

    def select_clause(self) -> Pattern:
        """Parse a SELECT from after its keyword to the end of its modifiers."""
        start = self.token
        modifier = self.word("DISTINCT", "REDUCED")
        aggregates: dict[algebra.AggregateCall, Variable] = {}
        chosen = self._choices(aggregates)
        self._dataset()
        where = self._where()
        modifiers = self._modifiers(aggregates)
        if chosen is None and modifiers.groups:
            self.wrong("SELECT * cannot be grouped; name what is wanted", start)
        if chosen is None:
            pattern = modifiers.grouped(where)
            variables = tuple(filter(algebra.is_named, algebra.visible(pattern)))
        else:
            pattern, variables = self._extended(where, chosen, modifiers, start), tuple(chosen)
        pattern = algebra.Project(modifiers.ordered(pattern), variables)
        return modifiers.sliced(algebra.Distinct(pattern) if modifier == "DISTINCT" else pattern)

    def _choices(self, aggregates: dict[algebra.AggregateCall, Variable]) -> dict[Variable, Expression | None] | None:
        """The variables to select, with the expression of each computed one; None for `*`."""
        if self.sign("*"):
            return None
        self.aggregates = aggregates
        chosen: dict[Variable, Expression | None] = {}
        while self.token.kind == VARIABLE or self.is_sign("("):
            self._choice(chosen)
        self.aggregates = None
        return chosen or self.fail("'*', a variable or '('")

    def _choice(self, chosen: dict[Variable, Expression | None]) -> None:
        token = self.token
        if not self.sign("("):
            chosen.setdefault(self.variable())
            return
        expression = self.expression()
        self.expect_word("AS")
        variable = self.variable()
        self.expect(")")
        if variable in chosen:
            self.wrong(f"{variable} is selected twice", token)
        chosen[variable] = expression

    def _extended(
        self, where: Pattern, chosen: dict[Variable, Expression | None], modifiers: _Modifiers, start: Token
    ) -> Pattern:
        """The grouped pattern, extended by the selected expressions. Each binds a new variable."""
        taken = set(algebra.visible(where))
        keys = {variable for variable, _ in modifiers.keys or ()}
        pattern = modifiers.grouped(where)
        for variable, expression in chosen.items():
            used = algebra.mentioned(variable if expression is None else expression)
            loose = next((v for v in used if algebra.is_named(v) and v not in keys), None)
            if modifiers.groups and loose is not None:
                self.wrong(f"{loose} is neither a key of GROUP BY nor inside an aggregate", start)
            if expression is not None:
                if variable in taken:
                    self.wrong(f"{variable} is already bound by the pattern; choose another name after AS", start)
                pattern = algebra.Extend(pattern, variable, expression)
                keys.add(variable)
        return pattern

    def _modifiers(self, aggregates: dict[algebra.AggregateCall, Variable]) -> _Modifiers:
        keys = self._group_by()
        self.aggregates = aggregates
        having = self._having()
        order = self._order_by()
        self.aggregates = None
        offset, limit = self._slice()
        values = self.data_block() if self.word("VALUES") else algebra.UNIT
        return _Modifiers(keys, having, order, offset, limit, aggregates, values)

    def _group_by(self) -> tuple[Key, ...] | None:
        if not self.word("GROUP"):
            return None
        self.expect_word("BY")
        return self._several(self._key)

    def _several(self, read: Callable[[], T]) -> tuple[T, ...]:
        """Parse expressions until a keyword or the end."""
        found = [read()]
        while self.token.kind == VARIABLE or self.is_sign("(") or self._starts_call():
            found.append(read())
        return tuple(found)

    def _starts_call(self) -> bool:
        return self.peek().text == "(" and not self.is_word("HAVING", "ORDER", "VALUES", "LIMIT", "OFFSET")

    def _key(self) -> Key:
        if self.token.kind == VARIABLE:
            variable = self.variable()
            return variable, variable
        if not self.sign("("):
            return self.fresh(), self.constraint()
        expression = self.expression()
        variable = self.variable() if self.word("AS") else self.fresh()
        self.expect(")")
        return variable, expression

    def _having(self) -> tuple[Expression, ...]:
        return self._several(self.constraint) if self.word("HAVING") else ()

    def _order_by(self) -> tuple[tuple[Expression, bool], ...]:
        if not self.word("ORDER"):
            return ()
        self.expect_word("BY")
        return self._several(self._order_condition)

    def _order_condition(self) -> tuple[Expression, bool]:
        direction = self.word("ASC", "DESC")
        if direction:
            return self.bracketted(), direction == "DESC"
        return (self.variable() if self.token.kind == VARIABLE else self.constraint()), False

    def _slice(self) -> tuple[int, int | None]:
        found: dict[str, int] = {}
        while keyword := self.word(*({"LIMIT", "OFFSET"} - found.keys())):
            if self.token.kind != INTEGER:
                self.fail("a whole number")
            found[keyword] = int(self.advance().text)
        return found.get("OFFSET", 0), found.get("LIMIT")


def _as_template(triple: algebra.Triple) -> algebra.Triple:
    """A triple of a pattern as a template: the variables of blank nodes become blank nodes."""
    return algebra.Triple(*map(_unbound, (triple.subject, triple.predicate, triple.object)))


def _unbound(node: algebra.Node) -> algebra.Node:
    blank = isinstance(node, Variable) and not algebra.is_named(node)
    return Term(node.name) if blank and isinstance(node, Variable) else node
