"""Group graph patterns, solution modifiers and query forms of the grammar, made into the algebra (section 18.2)."""

from __future__ import annotations

from collections.abc import Sequence as Several

from tidelog.errors import UsageError
from tidelog.model.terms import Term
from tidelog.rules.syntax import Variable
from tidelog.sparql.algebra import (
    UNIT,
    Aggregate,
    Ask,
    BasicPattern,
    Construct,
    Describe,
    Distinct,
    Expression,
    Extend,
    Filter,
    Graph,
    Group,
    Inverse,
    Join,
    LeftJoin,
    Link,
    Minus,
    Node,
    Order,
    Pattern,
    PathPattern,
    Project,
    Query,
    Select,
    Sequence,
    Slice,
    Triple,
    Union,
    Values,
    is_named,
)
from tidelog.sparql.expression_grammar import ExpressionGrammar
from tidelog.sparql.scope import ungrouped, visible
from tidelog.sparql.tokens import END, INTEGER, VARIABLE, WORD
from tidelog.sparql.triple_grammar import Statement

_DEEPEST = 200  # groups within groups


class QueryGrammar(ExpressionGrammar):
    """Reads a query."""

    _depth = 0

    def query(self) -> Query:
        self.prologue()
        form = self.expect_word("SELECT", "CONSTRUCT", "DESCRIBE", "ASK")
        query = {"SELECT": self._select, "CONSTRUCT": self._construct, "DESCRIBE": self._describe, "ASK": self._ask}
        found = query[form]()
        if self.token.kind != END:
            self.fail("the end of the query")
        return found

    def _dataset(self) -> None:
        if self.is_word("FROM"):
            raise UsageError(
                "FROM is refused: a query is answered from the facts of the knowledge base and reads nothing else. "
                "Load the data first, with kb.load(…)"
            )

    def _select(self) -> Select:
        pattern, variables = self.select_clause()
        return Select(pattern, variables)

    def _ask(self) -> Ask:
        self._dataset()
        pattern, _ = self._modified(self._where(), {}, (), {}, starred=True)
        return Ask(self._trailing_values(pattern))

    def _construct(self) -> Construct:
        if self.is_word("WHERE", "FROM"):
            return self._short_construct()
        template = self.construct_template()
        self._dataset()
        pattern, _ = self._modified(self._where(), {}, (), {}, starred=True)
        return Construct(self._trailing_values(pattern), template)

    def _short_construct(self) -> Construct:
        """CONSTRUCT WHERE: the pattern is the template."""
        self._dataset()
        self.expect_word("WHERE")
        self.expect("{")
        self.triples_block()
        self.expect("}")
        pattern = self.finish_block()
        if not isinstance(pattern, BasicPattern):
            self.wrong("CONSTRUCT WHERE takes triples without paths; write CONSTRUCT { … } WHERE { … }")
        modified, _ = self._modified(pattern, {}, (), {}, starred=True)
        return Construct(modified, tuple(map(_as_template, pattern.triples)))

    def construct_template(self) -> tuple[Triple, ...]:
        """Triples in braces; blank nodes are new ones for each solution."""
        self.template = True
        self.expect("{")
        self.triples_block()
        self.expect("}")
        self.template = False
        statements, self.statements = self.statements, []
        self.labels.clear()
        return tuple(Triple(s, p, o) for s, p, o in statements if isinstance(p, Variable | str))

    def _describe(self) -> Describe:
        resources: list[Node] = []
        starred = bool(self.sign("*"))
        while not starred and (self.token.kind == VARIABLE or self.is_iri()):
            resources.append(self.node())
        if not starred and not resources:
            self.fail("'*', a variable or an IRI")
        self._dataset()
        bare = not (self.is_word("WHERE") or self.is_sign("{"))
        pattern = UNIT if bare and not starred else self._where()
        if starred:
            resources = list(filter(is_named, visible(pattern)))
        modified, _ = self._modified(pattern, {}, (), {}, starred=True)
        return Describe(self._trailing_values(modified), tuple(resources))

    def _where(self) -> Pattern:
        self.word("WHERE")
        return self.group_pattern()

    def group_pattern(self) -> Pattern:
        self._depth += 1
        if self._depth > _DEEPEST:
            self.wrong(f"groups are nested more than {_DEEPEST} deep")
        self.expect("{")
        outer, self.statements, labels, self.labels = self.statements, [], self.labels, set()
        pattern = self._sub_select() if self.is_word("SELECT") else self._group()
        self.expect("}")
        self.statements, self.labels = outer, labels
        self._depth -= 1
        return pattern

    def _sub_select(self) -> Pattern:
        self.advance()
        outer, self.aggregates = self.aggregates, None
        pattern, _ = self.select_clause()
        self.aggregates = outer
        return pattern

    def _group(self) -> Pattern:
        pattern: Pattern = UNIT
        filters: list[Expression] = []
        while not self.is_sign("}"):
            if self.starts_triples():
                self.triples_block()
            elif self.word("FILTER"):
                filters.append(self._aggregateless(self.constraint))
            elif self.token.kind == WORD or self.is_sign("{"):
                pattern = self._element(_joined(pattern, self.finish_block()))
            else:
                self.fail("a triple, a group or '}'")
            self.sign(".")
        pattern = _joined(pattern, self.finish_block())
        for condition in filters:
            pattern = Filter(pattern, condition)
        return pattern

    def _aggregateless(self, read: object) -> Expression:
        before, self.aggregates = self.aggregates, None
        found: Expression = read()  # type: ignore[operator]
        self.aggregates = before
        return found

    def finish_block(self) -> Pattern:
        """The triples read since the last element of the group; their blank nodes may not occur in other blocks."""
        statements, self.statements = self.statements, []
        for label in self.labels:
            if label in self.used_labels:
                self.wrong(f"the blank node {label} is used in two basic graph patterns; use a variable")
        self.used_labels |= self.labels
        self.labels = set()
        return self._block(statements)

    @property
    def used_labels(self) -> set[str]:
        return self.__dict__.setdefault("_used_labels", set())

    @used_labels.setter
    def used_labels(self, labels: set[str]) -> None:
        self.__dict__["_used_labels"] = labels

    def _block(self, statements: Several[Statement]) -> Pattern:
        triples: list[Triple] = []
        paths: list[PathPattern] = []
        for subject, verb, object_ in statements:
            self._place(subject, verb, object_, triples, paths)
        pattern: Pattern = BasicPattern(tuple(triples))
        for path in paths:
            pattern = _joined(pattern, path)
        return pattern

    def _place(self, subject: Node, verb: object, object_: Node, triples: list[Triple], paths: list[PathPattern]) -> None:
        """A sequence of links is a few triples; what is left are paths."""
        if isinstance(verb, Variable | str):
            triples.append(Triple(subject, verb if isinstance(verb, Variable) else Term(verb), object_))
        elif isinstance(verb, Link):
            triples.append(Triple(subject, verb.predicate, object_))
        elif isinstance(verb, Inverse):
            self._place(object_, verb.path, subject, triples, paths)
        elif isinstance(verb, Sequence):
            middle = self.fresh()
            self._place(subject, verb.first, middle, triples, paths)
            self._place(middle, verb.second, object_, triples, paths)
        else:
            paths.append(PathPattern(subject, verb, object_))  # type: ignore[arg-type]

    def _element(self, before: Pattern) -> Pattern:
        """A part of a group that is not a triple, put together with what comes before it."""
        if self.is_sign("{"):
            return _joined(before, self._union())
        token = self.token
        keyword = self.expect_word("OPTIONAL", "MINUS", "GRAPH", "SERVICE", "BIND", "VALUES")
        if keyword == "OPTIONAL":
            return _optional(before, self.group_pattern())
        if keyword == "MINUS":
            return Minus(before, self.group_pattern())
        if keyword == "GRAPH":
            name = self.variable() if self.token.kind == VARIABLE else self.iri()
            return _joined(before, Graph(name, self.group_pattern()))
        if keyword == "VALUES":
            return _joined(before, self._data_block())
        if keyword == "SERVICE":
            raise UsageError("SERVICE is refused: a query reads nothing from outside the knowledge base")
        self.expect("(")
        expression = self._aggregateless(self.expression)
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

    def _trailing_values(self, pattern: Pattern) -> Pattern:
        return _joined(pattern, self._data_block()) if self.word("VALUES") else pattern

    def _data_block(self) -> Values:
        if self.token.kind == VARIABLE:
            variables: tuple[Variable, ...] = (self.variable(),)
            self.expect("{")
            rows = []
            while not self.sign("}"):
                rows.append((self._data_value(),))
            return Values(variables, tuple(rows))
        self.expect("(")
        several = []
        while not self.sign(")"):
            several.append(self.variable())
        self.expect("{")
        wide = []
        while not self.sign("}"):
            wide.append(self._data_row(len(several)))
        return Values(tuple(several), tuple(wide))

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

    def select_clause(self) -> tuple[Pattern, tuple[Variable, ...]]:
        """A SELECT after its keyword, to the end of its modifiers."""
        modifier = self.word("DISTINCT", "REDUCED")
        self.aggregates = aggregates = {}
        chosen: dict[Variable, Expression | None] = {}
        starred = bool(self.sign("*"))
        while not starred and (self.token.kind == VARIABLE or self.is_sign("(")):
            self._choice(chosen)
        if not starred and not chosen:
            self.fail("'*', a variable or '('")
        self._dataset()
        self.aggregates = None
        where = self._where()
        self.aggregates = aggregates
        pattern, variables = self._modified(where, chosen, (modifier,) if modifier else (), aggregates, starred=starred)
        return pattern, variables

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

    def _modified(
        self,
        pattern: Pattern,
        chosen: dict[Variable, Expression | None],
        modifiers: tuple[str, ...],
        aggregates: dict[Aggregate, Variable],
        *,
        starred: bool,
    ) -> tuple[Pattern, tuple[Variable, ...]]:
        """The solution modifiers that follow a pattern, in the order of section 18.2.4."""
        in_scope = visible(pattern)
        self.aggregates = aggregates
        keys = self._group_by()
        having = self._having()
        order = self._order_by()
        self.aggregates = None
        offset, limit = self._limit_offset()
        grouped = keys is not None or bool(aggregates) or bool(having)
        if grouped:
            if starred and chosen == {} and modifiers is not None and self._selects_star(starred, aggregates, keys):
                self.wrong("SELECT * cannot be grouped; name what is wanted")
            pattern = Group(pattern, keys or (), tuple((v, a) for a, v in aggregates.items()), keys is None)
        for condition in having:
            pattern = Filter(pattern, condition)
        return self._finish(pattern, chosen, modifiers, in_scope, order, offset, limit, grouped, starred)

    def _selects_star(self, starred: bool, aggregates: object, keys: object) -> bool:
        return starred and keys is not None
