"""Terms and expressions: constants, variables, arithmetic, comparisons, function calls, f-strings.

Operators are read by precedence climbing: only nested parentheses and calls use the Python stack, and their depth is
limited.

In a body, a name before `(` is a function only if it is a condition (`CONTAINS`, `isString` …) or if an operator
follows (`STRLEN(?x) > 3`). So `year` and `sum` can be predicates.
"""

from __future__ import annotations

from math import isfinite

from tidelog.errors import did_you_mean
from tidelog.model import terms
from tidelog.model.terms import Term
from tidelog.rules.expressions import FUNCTIONS
from tidelog.rules.parsing.tokens import MAX_DEPTH, RuleToken, TokenCursor
from tidelog.rules.syntax import Call, Expression, Variable

ORDER_COMPARISONS = frozenset({"<", "<=", ">", ">="})
COMPARISONS = ORDER_COMPARISONS | {"=", "!="}
PRECEDENCE = {**dict.fromkeys(COMPARISONS, 1), "+": 2, "-": 2, "*": 3, "/": 3}
NEGATE = "INVERTSIGN"

# Nemo's function names for operators.
SPELLED_OUT = {
    "EQUALITY": "=",
    "UNEQUALITY": "!=",
    "NUMGREATER": ">",
    "NUMGREATEREQ": ">=",
    "NUMLESS": "<",
    "NUMLESSEQ": "<=",
    "SUBTRACTION": "-",
    "DIVISION": "/",
}

# The functions that return a boolean. Only these may be a body literal.
CONDITIONS = frozenset({"AND", "OR", "NOT", "CONTAINS", "STRSTARTS", "STRENDS", "REGEX", "SAMETERM"}) | {
    name for name in FUNCTIONS if name.startswith("IS") or SPELLED_OUT.get(name) in COMPARISONS
}

# Idempotent functions: recursion through them creates no new values, so it ends.
SETTLING = frozenset({"CANONICAL", "DATATYPE", "IRI"})


def call_problem(function: str, count: int) -> str | None:
    """The problem with a call of `function` with `count` arguments, or None if it is right."""
    if function not in FUNCTIONS and function not in PRECEDENCE:
        return f"unknown function `{function}`{did_you_mean(function, FUNCTIONS)}"
    least, most = (2, 2) if function in PRECEDENCE else FUNCTIONS[function]
    if count >= least and (most is None or count <= most):
        return None
    wanted = str(least) if most == least else f"at least {least}" if most is None else f"{least} to {most}"
    return f"`{function}` takes {wanted} argument{'' if wanted == '1' else 's'}, not {count}"


_MAX_DIGITS = 1_000
_COMPARISON = PRECEDENCE["="]
_SUM = PRECEDENCE["+"]
_UNSUPPORTED = {
    "existential": "existential variables (`!x`) are not supported; compute a name for the new value, "
    'for example IRI(f"new-{?x}")',
    "{": "maps are not supported as terms; use one argument for each value",
    "<": "this is no IRI: an IRI holds no spaces, quotes or angle brackets",
    "aggregate": "an aggregate may only stand in a rule head, and not in another aggregate",
}


class TermReader(TokenCursor):
    _depth = 0

    def expression(self, lowest: int = _SUM) -> Expression:
        """Read an expression whose operators have at least precedence `lowest` (by default no comparisons)."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.error(f"nested more than {MAX_DEPTH} deep")
        left = self._operand()
        while (precedence := PRECEDENCE.get(self.token.kind, 0)) >= lowest:
            operator = self.advance().kind
            left = Call(operator, (left, self.expression(precedence + 1)))
            if precedence == _COMPARISON:
                break
        self._depth -= 1
        return self._bounded(left) if self._depth == 0 else left

    def comparison(self) -> Expression:
        """Read an expression that may be a comparison."""
        return self.expression(_COMPARISON)

    def _bounded(self, expression: Expression) -> Expression:
        """Refuse an expression that is too deep for recursive functions. A long sum is as deep as it is long."""
        level: list[Expression] = [expression]
        for _ in range(MAX_DEPTH):
            level = [arg for e in level if isinstance(e, Call) for arg in e.args]
            if not level:
                return expression
        raise self.error(f"an expression with more than {MAX_DEPTH} steps; compute it in several assignments")

    def _operand(self) -> Expression:
        kind = self.token.kind
        if kind == "variable":
            return Variable(self.advance().text[1:])
        if kind == "(":
            return self._parenthesised()
        if kind == "fstring":
            return self._fstring()
        if kind in "+-":
            return self._signed()
        if kind == "name" and self.ahead().kind == "(":
            return self._call()
        return self.constant()

    def _parenthesised(self) -> Expression:
        self.advance()
        inside = self.comparison()
        if self.token.kind == ",":
            raise self.error("tuples are not supported as terms; use one argument for each value")
        self.expect(")")
        return inside

    def _signed(self) -> Expression:
        sign = self.advance()
        if self.token.kind == "number":
            return self._number(self.advance(), sign.text)
        if sign.kind == "+":
            raise self.unexpected("a number after `+`")
        return Call(NEGATE, (self.expression(PRECEDENCE["*"] + 1),))

    def _call(self) -> Expression:
        token = self.advance()
        name = token.text.upper()
        args = tuple(self._arguments())
        if problem := call_problem(name, len(args)):
            raise self.error(problem, token)
        return Call(SPELLED_OUT.get(name, name), args)

    def _arguments(self) -> list[Expression]:
        self.expect("(")
        args = [] if self.token.kind == ")" else self.comma_separated(self.comparison)
        self.expect(")", "`,` or `)`")
        return args

    def _fstring(self) -> Expression:
        """`f"a {?x}"` is `CONCAT("a ", STR(?x))`."""
        self.advance()
        parts: list[Expression] = []
        while True:
            text = self.advance()
            if text.text:
                plain = text.text.replace("{{", "{").replace("}}", "}")
                parts.append(terms.string(self.unescaped(plain, text.start)))
            if self.accept("text end"):
                break
            self.expect("{")
            parts.append(Call("STR", (self.comparison(),)))
            self.expect("}")
        if not parts:
            return terms.string("")
        return parts[0] if len(parts) == 1 else Call("CONCAT", tuple(parts))

    def constant(self) -> Term:
        token = self.token
        if token.kind in _UNSUPPORTED:
            raise self.error(_UNSUPPORTED[token.kind])
        if token.kind == "name":
            return self._name()
        if token.kind in ("iri", "prefixed"):
            return terms.iri(self.iri())
        if token.kind == "number":
            return self._number(self.advance(), "")
        if token.kind == "string":
            return self.string_literal()
        if token.kind == "blank":
            return Term(self.advance().text)
        if token.kind == "parameter":
            return self._parameter(self.advance())
        raise self.unexpected("a term")

    def _name(self) -> Term:
        token = self.advance()
        if token.text == "_":
            raise self.error("`_` may only stand as an argument of a body atom; name the variable", token)
        if token.text in ("true", "false"):
            return terms.boolean(token.text == "true")
        return terms.iri(self.scope.base + token.text)

    def _number(self, token: RuleToken, sign: str) -> Term:
        text = token.text.lower()
        if len(text) > _MAX_DIGITS:
            raise self.error(f"a number of more than {_MAX_DIGITS} digits", token)
        if text[:2] in ("0x", "0o", "0b"):
            return terms.integer(int(sign + text, 0))
        if text.isdigit():
            return terms.integer(int(sign + text))
        number = float(sign + text)
        if not isfinite(number):
            raise self.error("too large for a double; the largest is about 1.8E308", token)
        return terms.double(number)

    def _parameter(self, token: RuleToken) -> Term:
        value = self.scope.parameters.get(token.text[1:])
        if value is None:
            raise self.error(f"parameter `{token.text}` has no value; add `@parameter {token.text} = … .`", token)
        return value
