"""Random expressions of queries: numbers, texts and truth values, over variables that may be bound to anything."""

from __future__ import annotations

from random import Random

from tests.queries.sparql.random_graphs import NODES, NUMBERS, OBJECTS, STRINGS

NAMES = ("a", "b", "c", "d", "e", "f")
TERMS = [term for term in OBJECTS if term[0] != "_"]


class ExpressionMaker:
    """Makes expressions; `used` are the variables of patterns so far, `computed` those of BIND."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.used: list[str] = []
        self.computed: list[str] = []

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def variable(self) -> str:
        """Mostly one that was used: else most filters would fail."""
        return f"?{self.random.choice(self.used or NAMES) if self.maybe(0.9) else self.random.choice(NAMES)}"

    def expression(self, depth: int) -> str:
        return self.random.choice((self.number, self.text, self.boolean))(depth)

    def number(self, depth: int) -> str:
        if depth == 0 or self.maybe(0.3):
            name = self.random.choice(self.computed) if self.computed and self.maybe(0.2) else None
            return f"?{name}" if name else self.random.choice((self.variable(), self.random.choice(NUMBERS)))
        one, other = self.number(depth - 1), self.number(depth - 1)
        return self.random.choice(
            (
                f"({one} + {other})",
                f"({one} - {other})",
                f"({one} * {other})",
                f"({one} / 2)",
                f"(- {one})",
                f"ABS({one})",
                f"STRLEN({self.text(depth - 1)})",
                f"IF({self.boolean(depth - 1)}, {one}, {other})",
                f"COALESCE({one}, {other})",
                f"<http://www.w3.org/2001/XMLSchema#integer>({self.variable()})",
                f"<http://www.w3.org/2001/XMLSchema#double>({self.variable()})",
            )
        )

    def text(self, depth: int) -> str:
        if depth == 0 or self.maybe(0.3):
            return self.random.choice((self.variable(), f"STR({self.variable()})", self.random.choice(STRINGS)))
        one, other = self.text(depth - 1), self.text(depth - 1)
        return self.random.choice(
            (
                f"CONCAT({one}, {other})",
                f"UCASE({one})",
                f"LCASE({one})",
                f"SUBSTR({one}, 1, 1)",
                f"LANG({self.variable()})",
                f"STR(DATATYPE({self.variable()}))",
                f"STRAFTER({one}, {other})",
                f"STRBEFORE({one}, {other})",
                f'REPLACE({one}, "a", "z")',
                f'STRLANG(STR({self.variable()}), "fr")',
                f"COALESCE({one}, {other})",
            )
        )

    def boolean(self, depth: int) -> str:
        variable = self.variable()
        if depth == 0 or self.maybe(0.3):
            kind = self.random.choice(("isIRI", "isBlank", "isLiteral", "isNumeric", "BOUND"))
            return f"{kind}({variable})"
        comparison = self.random.choice(("=", "!=", "<", "<=", ">", ">="))
        one, other = self.boolean(depth - 1), self.boolean(depth - 1)
        return self.random.choice(
            (
                f"({self.number(depth - 1)} + 0 {comparison} {self.number(depth - 1)})",
                f'(CONCAT({self.text(depth - 1)}, "") {comparison} {self.text(depth - 1)})',
                f"({variable} {self.random.choice(('=', '!='))} {self.variable()})",
                f"({variable} = {self.random.choice(NODES)})",
                f"sameTerm({variable}, {self.variable()})",
                f"({one} && {other})",
                f"({one} || {other})",
                f"(! {one})",
                f"({variable} {self.random.choice(('IN', 'NOT IN'))} ({self._list()}))",
                f"CONTAINS({self.text(depth - 1)}, {self.text(depth - 1)})",
                f"STRSTARTS({self.text(depth - 1)}, {self.text(depth - 1)})",
                f'REGEX({self.text(depth - 1)}, "{self.random.choice(("a", "^a", "B$", "[0-9]+"))}", "i")',
                f'LANGMATCHES(LANG({variable}), "{self.random.choice(("*", "en", "de"))}")',
                f'IF(LANG({variable}) = "", {variable}, false)',
            )
        )

    def _list(self) -> str:
        return ", ".join(self.random.choice((self.variable(), self.random.choice(TERMS))) for _ in range(3))
