"""Reads one statement: a fact, rule, constraint or query, or a directive.

Directives are `@prefix`, `@base`, `@parameter`, `@import`, `@export` and the older `@output`.

    @import parent :- csv{resource="parents.csv", format=(string, int)} .
    @import table :- csv{resource=f"file-{?n}.csv"}, ?n = 3 .

The parameters of imports and exports are computed while they are read. They become Python values: `str` for strings,
names and IRIs, numbers, booleans, a tuple for a list in parentheses and a dictionary for a map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tidelog.model import terms
from tidelog.model.terms import RDF_TYPE, TRIPLE, Fact, Term
from tidelog.rules.analysis.normalise import (
    AGGREGATE_VALUE,
    RawAggregate,
    RawAtom,
    RawLiteral,
    RawNegation,
    fresh_variables,
    normalise,
)
from tidelog.rules.expressions import AGGREGATES, evaluate
from tidelog.rules.parsing.aggregate_rules import aggregate_rules
from tidelog.rules.parsing.terms import COMPARISONS, CONDITIONS, PRECEDENCE, TermReader
from tidelog.rules.parsing.tokens import MAX_LITERALS, RuleToken, Scope, SourceText
from tidelog.rules.syntax import (
    Call,
    Condition,
    Export,
    Expression,
    Import,
    Literal,
    Rule,
    RuleFile,
    Variable,
    expression_variables,
)

_PREDICATES = ("name", "iri", "prefixed")
_CLOSING = {"(": ")", "[": "]"}
_NOT_LITERALS = (".", "end", ",", ":-")
_TRUTHS = CONDITIONS | COMPARISONS

RawArgument = Expression | RawAggregate


@dataclass
class Attributes:
    """The attributes `#[…]` before a rule."""

    name: str | None = None
    bound: int | None = None
    cartesian: bool = False
    report: bool = False


class ClauseReader(TermReader):
    """Reads one clause. Wildcards and computed arguments become variables with names that the clause does not use."""

    def __init__(self, source: SourceText, tokens: list[RuleToken], scope: Scope) -> None:
        super().__init__(source, tokens, scope)
        self.fresh: Iterator[Variable] = fresh_variables(t.text[1:] for t in tokens if t.kind == "variable")
        self._found: list[RawAggregate] | None = None  # the aggregates of the head argument that is being read

    def clause(self) -> list[Rule] | Fact:
        """Read a rule, a constraint or a fact, up to and including its dot.

        Only rules with aggregates become several rules, see `aggregate_rules`.
        """
        start = self.token
        attributes = self._attributes()
        heads = [] if self.token.kind == ":-" else self.comma_separated(self._head)
        if self.accept(":-"):
            return self._rules(heads, attributes, start)
        if len(heads) > 1:
            raise self.unexpected("`:-` after several heads")
        self.expect(".", "`:-`, `,` or `.`")
        if start.kind == "#[":
            raise self.error("attributes stand before rules, not before facts", start)
        return self._fact(heads[0], start)

    def _rules(self, heads: list[RawAtom], attributes: Attributes, start: RuleToken) -> list[Rule]:
        body = [] if heads and self.token.kind == "." else self.body()  # `p(a) :- .` is an axiom
        self.expect(".", "`,` or `.`")
        if attributes.report and heads:
            raise self.error("report stands before constraints, which have no head", start)
        location = self.source.location(start.start)

        def rule(heads: Sequence[RawAtom], body: Sequence[RawLiteral]) -> Rule:
            new_heads, new_body = normalise(heads, body, self.fresh)
            how = attributes
            return Rule(new_heads, new_body, how.bound, how.cartesian, how.report, how.name, location)

        rules = aggregate_rules(heads, body, self.fresh, rule)
        if len(rules) == 1:
            return rules
        written = " ".join(self.source.text[start.start : self.tokens[-1].end].split())
        return [replace(r, written=written) for r in rules]

    def query(self) -> tuple[tuple[Literal, ...], tuple[Variable, ...]]:
        """Read a body with or without a final dot; return it and its named variables in order."""
        body = self.body()
        self.accept(".")
        self.expect("end", "`,` or the end of the query")
        names = dict.fromkeys(t.text[1:] for t in self.tokens if t.kind == "variable")
        return normalise([], body, self.fresh)[1], tuple(Variable(n) for n in names if not n.startswith("_"))

    def _fact(self, atom: RawAtom, start: RuleToken) -> Fact:
        return Fact(atom.predicate, tuple(self._ground(arg, start) for arg in atom.args))

    def _ground(self, arg: RawArgument, start: RuleToken) -> Term:
        if isinstance(arg, RawAggregate):
            raise self.error("a fact cannot hold an aggregate; is the body `:- …` missing?", start)
        return self.evaluated(arg, {}, start, "a fact cannot hold the variable {}; is the body `:- …` missing?")

    def evaluated(self, expression: Expression, binding: dict[Variable, Term], start: RuleToken, unbound: str) -> Term:
        """The value of an expression under `binding`. `unbound` is the message for a variable without a value."""
        free = next((v for v in expression_variables(expression) if v not in binding), None)
        if free is not None:
            raise self.error(unbound.format(free), start)
        value = evaluate(expression, binding)
        if value is None:
            raise self.error("this cannot be computed: wrong types, or division by zero", start)
        return value

    def _attributes(self) -> Attributes:
        attributes = Attributes()
        while self.accept("#["):
            self.comma_separated(lambda: self._attribute(attributes))
            self.expect("]", "`]`")
        return attributes

    def _attribute(self, attributes: Attributes) -> None:
        token = self.expect("name", "an attribute")
        match token.text, self._arguments() if self.token.kind == "(" else []:
            case "name", [str() as text] if terms.is_literal(text):
                attributes.name = terms.plain(text)
            case "bound", [str() as text] if isinstance(number := terms.to_value(text), int) and number > 0:
                attributes.bound = number
            case "cartesian", []:
                attributes.cartesian = True
            case "report", []:
                attributes.report = True
            case "display", [_]:  # Nemo's hint for its own messages
                pass
            case _:
                raise self.error('expected name("…"), bound(1000), cartesian or report', token)

    def _head(self) -> RawAtom:
        if self.token.kind not in (*_PREDICATES, "["):
            raise self.unexpected("a rule, a fact or a directive" if self.index == 0 else "an atom")
        if self.token.kind == "name" and self.token.text.upper() in CONDITIONS:
            name = self.token.text
            raise self.error(f"`{name}` is a built-in condition and cannot be a predicate; rename it or write <{name}>")
        return self._atom(self._head_argument)

    def _head_argument(self) -> RawArgument:
        start = self.token
        found: list[RawAggregate] = []
        self._found = found
        expression = self.expression()
        self._found = None
        if not found:
            return expression
        if len(found) > 1:
            raise self.error("a rule computes at most one aggregate; use one rule for each", start)
        return found[0] if expression == AGGREGATE_VALUE else replace(found[0], within=expression)

    def _operand(self) -> Expression:
        """Read an operand; `AGGREGATE_VALUE` stands for an aggregate."""
        found = self._found
        if self.token.kind != "aggregate" or found is None:
            return super()._operand()
        self._found = None  # an aggregate has no aggregates in its arguments
        found.append(self._aggregate())
        self._found = found
        return AGGREGATE_VALUE

    def _aggregate(self) -> RawAggregate:
        token = self.advance()
        function = token.text[1:].lower()
        if function not in AGGREGATES:
            raise self.error(f"unknown aggregate `{token.text}`; there are #{', #'.join(AGGREGATES)}", token)
        args = tuple(self._arguments())
        if not args:
            raise self.error(f"`{token.text}` needs at least one argument", token)
        return RawAggregate(function, args)

    def body(self) -> list[RawLiteral]:
        body = [self._literal()]
        while self.accept(","):
            if self.token.kind == ".":  # Nemo allows a trailing comma
                break
            body.append(self._literal())
            if len(body) > MAX_LITERALS:
                raise self.error(f"a body of more than {MAX_LITERALS} literals; split the rule")
        return body

    def _literal(self) -> RawLiteral:
        if self.accept("~"):
            return RawNegation(self._body_atom())
        if self.token.kind == "[" or (self.token.kind in _PREDICATES and self._starts_atom()):
            return self._body_atom()
        return self._condition()

    def _starts_atom(self) -> bool:
        """Whether the name at this place is a predicate, not a function or a constant of a comparison."""
        if self.ahead().kind != "(" or self.token.kind != "name":
            return self.ahead().kind in _CLOSING
        return self.token.text.upper() not in CONDITIONS and self._after_parenthesis().kind not in PRECEDENCE

    def _after_parenthesis(self) -> RuleToken:
        depth = 0
        for i in range(self.index + 1, len(self.tokens)):
            depth += {"(": 1, ")": -1}.get(self.tokens[i].kind, 0)
            if depth == 0:
                return self.tokens[min(i + 1, len(self.tokens) - 1)]
        return self.tokens[-1]

    def _body_atom(self) -> RawAtom:
        token = self.token
        if token.kind == "name" and token.text.upper() in CONDITIONS:
            raise self.error(f"a condition is negated with NOT({token.text}(…)); `~` stands before atoms")
        if token.kind not in (*_PREDICATES, "["):
            raise self.unexpected("an atom")
        return self._atom(self._body_argument)

    def _body_argument(self) -> Expression:
        if self.token.text == "_" and self.token.kind == "name" and self.ahead().kind in (",", ")", "]"):
            self.advance()
            return next(self.fresh)
        return self.expression()

    def _condition(self) -> Condition:
        start = self.token
        if start.kind in _NOT_LITERALS:
            raise self.unexpected("an atom or a comparison")
        condition = self.comparison()
        if not isinstance(condition, Call) or condition.function not in _TRUTHS:
            raise self.error(f"expected an atom or a comparison such as `?x > 3`, found {start} alone", start)
        return Condition(condition)

    def _atom(self, argument: Callable[[], RawArgument]) -> RawAtom:
        """Read `p(…)`, a triple `[s, p, o]`, or its short forms `C[s]` and `p[s, o]`; `argument` reads one argument."""
        if self.token.kind == "[":
            return RawAtom(TRIPLE, self._triple(argument))
        predicate = self.iri()
        if self.token.kind not in _CLOSING:
            raise self.unexpected(f"`(` after the predicate `{predicate}`")
        if self.token.kind == "[":
            return RawAtom(TRIPLE, self._short_triple(terms.iri(predicate), argument))
        return RawAtom(predicate, self._bracketed(argument))

    def _bracketed(self, argument: Callable[[], RawArgument]) -> tuple[RawArgument, ...]:
        closing = _CLOSING[self.advance().kind]
        if closing == ")" and self.accept(closing):  # a relation without columns
            return ()
        args = self.comma_separated(argument)
        self.expect(closing, f"`,` or `{closing}`")
        return tuple(args)

    def _triple(self, argument: Callable[[], RawArgument]) -> tuple[RawArgument, ...]:
        start = self.token
        args = self._bracketed(argument)
        if len(args) != 3:
            raise self.error(f"a triple has 3 places, not {len(args)}: [subject, predicate, object]", start)
        return args

    def _short_triple(self, name: Term, argument: Callable[[], RawArgument]) -> tuple[RawArgument, ...]:
        start = self.token
        args = self._bracketed(argument)
        if len(args) > 2:
            raise self.error(f"`[…]` after a name holds 1 or 2 terms, not {len(args)}; use `(…)` for a relation", start)
        return (args[0], Term(RDF_TYPE), name) if len(args) == 1 else (args[0], name, args[1])


_Value = Expression | list["_Value"] | dict[str, "_Value"]


class DirectiveReader(ClauseReader):
    def directive(self, program: RuleFile) -> None:
        """Read one directive, up to and including its dot, into `program`."""
        token = self.advance()
        match token.text:
            case "@prefix":
                prefix, expansion = self.prefix_declaration()
                program.prefixes[prefix] = expansion
            case "@base":
                self.scope.base = self.expect("iri", "the base as `<…>`").text[1:-1]
            case "@parameter":
                program.parameters.append(self._set_parameter())
            case "@import":
                program.imports.append(Import(*self._transfer("import"), self.source.location(token.start)))
            case "@export":
                program.exports.append(Export(*self._transfer("export"), self.source.location(token.start)))
            case "@output":
                self._output(token)
            case _:
                known = "@prefix, @base, @import, @export, @output, @parameter"
                raise self.error(f"unknown directive `{token.text}`; there are {known}", token)
        self.expect(".")

    def _set_parameter(self) -> str:
        token = self.expect("parameter", "a parameter such as `$limit`")
        name = token.text[1:]
        if self.accept("="):
            value = self.evaluated(self.expression(), {}, token, "a parameter cannot hold the variable {}")
            self.scope.parameters.setdefault(name, value)
        elif name not in self.scope.parameters:
            raise self.error(
                f"parameter `{token.text}` has no value; write `@parameter {token.text} = … .`, or run the program "
                f"with --param {name}=…",
                token,
            )
        return name

    def _output(self, token: RuleToken) -> None:
        location = self.source.location(token.start)
        self.scope.outputs += (Export(p, "csv", {}, location) for p in self.comma_separated(self._predicate))

    def _predicate(self) -> str:
        if self.token.kind not in ("name", "iri", "prefixed"):
            raise self.unexpected("a predicate")
        return self.iri()

    def _transfer(self, verb: str) -> tuple[str, str, dict[str, object]]:
        predicate = self._predicate()
        self.expect(":-")
        form = self.expect("name", f"a format to {verb}, such as csv").text
        start = self.token
        values = self._map()
        binding = self._binding()
        return predicate, form, {key: self._python(value, binding, start) for key, value in values.items()}

    def _map(self) -> dict[str, _Value]:
        self.expect("{")
        values: dict[str, _Value] = {}
        while self.token.kind != "}":
            key = self._key()
            self.expect("=", f"`=` after `{key}`")
            values[key] = self._value()
            if not self.accept(","):
                break
        self.expect("}", "`,` or `}`")
        return values

    def _key(self) -> str:
        if self.token.kind == "name":
            return self.advance().text
        if self.token.kind != "string":
            raise self.unexpected("a parameter such as resource=")
        return terms.plain(self.string_literal())

    def _value(self) -> _Value:
        if self.token.kind == "{":
            return self._map()
        return self._list() if self.token.kind == "(" else self.expression()

    def _list(self) -> list[_Value]:
        self.advance()
        values: list[_Value] = [self.expression()]
        while self.accept(",") and self.token.kind != ")":
            values.append(self.expression())
        self.expect(")", "`,` or `)`")
        return values

    def _binding(self) -> dict[Variable, Term]:
        """Read `, ?x = 1, ?y = ?x + 1`; return the values of these variables."""
        binding: dict[Variable, Term] = {}
        while self.accept(","):
            token = self.expect("variable", "an assignment such as `?n = 3`")
            self.expect("=")
            value = self.evaluated(self.expression(), binding, token, "{} has no value yet; assign it before")
            binding[Variable(token.text[1:])] = value
        return binding

    def _python(self, value: _Value, binding: dict[Variable, Term], start: RuleToken) -> object:
        if isinstance(value, dict):
            return {key: self._python(v, binding, start) for key, v in value.items()}
        if isinstance(value, list):
            return tuple(self._python(v, binding, start) for v in value)
        found = terms.to_value(
            self.evaluated(value, binding, start, "{0} has no value; add `, {0} = …` after the braces")
        )
        return found if isinstance(found, int | float) else str(found)
