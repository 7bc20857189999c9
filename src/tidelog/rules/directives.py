"""Directives: `@prefix`, `@base`, `@parameter`, `@import`, `@export` and the older `@output`.

    @import parent :- csv{resource="parents.csv", format=(string, int)} .
    @import table :- csv{resource=f"file-{?n}.csv"}, ?n = 3 .

Values are computed at once and handed on as Python values: `str` for strings, names and IRIs, numbers, booleans, tuples
for lists in parentheses and dictionaries for maps.
"""

from __future__ import annotations

from tidelog.model import terms
from tidelog.model.terms import Term
from tidelog.rules.clause_reader import ClauseReader
from tidelog.rules.syntax import Export, Expression, Import, Program, Variable
from tidelog.rules.tokens import Token

_Value = Expression | list["_Value"] | dict[str, "_Value"]


class DirectiveReader(ClauseReader):
    def directive(self, program: Program) -> None:
        """Read one directive into the program, up to and including its dot."""
        token = self.advance()
        match token.text:
            case "@prefix":
                self._prefix(program)
            case "@base":
                self.scope.base = self.expect("iri", "the base as `<…>`").text[1:-1]
            case "@parameter":
                self._set_parameter()
            case "@import":
                program.imports.append(Import(*self._transfer("import"), self.source.location(token.start)))
            case "@export":
                program.exports.append(Export(*self._transfer("export"), self.source.location(token.start)))
            case "@output":
                self._output(program, token)
            case _:
                known = "@prefix, @base, @import, @export, @output, @parameter"
                raise self.error(f"unknown directive `{token.text}`; there are {known}", token)
        self.expect(".")

    def _prefix(self, program: Program) -> None:
        if self.token.kind != "prefixed" or not self.token.text.endswith(":"):
            raise self.unexpected("a prefix such as `ex:`")
        prefix = self.advance().text[:-1]
        expansion = self.expect("iri", "what the prefix stands for, as `<…>`").text[1:-1]
        self.scope.declared[prefix] = program.prefixes[prefix] = expansion

    def _set_parameter(self) -> None:
        token = self.expect("parameter", "a parameter such as `$limit`")
        name = token.text[1:]
        if self.accept("="):
            value = self.evaluated(self.expression(), {}, token, "a parameter cannot hold the variable {}")
            self.scope.parameters.setdefault(name, value)
        elif name not in self.scope.parameters:
            raise self.error(f"parameter `{token.text}` has no value; write `@parameter {token.text} = … .`", token)

    def _output(self, program: Program, token: Token) -> None:
        location = self.source.location(token.start)
        program.exports.append(Export(self._predicate(), "csv", {}, location))
        while self.accept(","):
            program.exports.append(Export(self._predicate(), "csv", {}, location))

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
        return terms.plain(self._string(self.expect("string", "a parameter such as resource=")))

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
        """`, ?x = 1, ?y = ?x + 1`: values for the variables of the parameters."""
        binding: dict[Variable, Term] = {}
        while self.accept(","):
            token = self.expect("variable", "an assignment such as `?n = 3`")
            self.expect("=")
            value = self.evaluated(self.expression(), binding, token, "{} has no value yet; assign it before")
            binding[Variable(token.text[1:])] = value
        return binding

    def _python(self, value: _Value, binding: dict[Variable, Term], start: Token) -> object:
        if isinstance(value, dict):
            return {key: self._python(v, binding, start) for key, v in value.items()}
        if isinstance(value, list):
            return tuple(self._python(v, binding, start) for v in value)
        found = terms.to_value(
            self.evaluated(value, binding, start, "{0} has no value; add `, {0} = …` after the braces")
        )
        return found if isinstance(found, int | float) else str(found)
