"""The abstract syntax of rules. Parsing, printing, checking and every engine share these few nouns.

A rule is `heads :- body`. Head arguments are variables, terms or (in aggregate rules) one `Aggregate`; body atoms hold
variables and terms only. Everything computed is spelled out in the body: the parser turns `p(?x + 1) :- q(?x)` into
`p(?_1) :- q(?x), ?_1 = ?x + 1`. So engines see four kinds of body literal:

    Atom         parent(?x, ?y)
    Negation     ~parent(?x, _)      variables that occur nowhere else are "there is none"
    Assignment   ?n = ?m + 1         binds ?n
    Condition    ?n >= 18            true, or the match is dropped (also when it cannot be evaluated)

A triple `[?x, ub:worksFor, ?y]` is the atom `triple(?x, ub:worksFor, ?y)`. A wildcard `_` is a variable with a fresh
name that starts with `_`. A rule without heads is a constraint, one without a body an axiom: it holds as long as the
rule is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from tidelog.errors import Location
from tidelog.model.facts import Fact
from tidelog.model.terms import Term

_VARIABLE = re.compile(r"Variable\(name='\w*'\)")


@dataclass(frozen=True, slots=True)
class Variable:
    name: str

    def __str__(self) -> str:
        return f"?{self.name}"


@dataclass(frozen=True, slots=True)
class Call:
    """A built-in applied to expressions. Operators are calls too: `+ - * / = != < <= > >=`; names are upper case."""

    function: str
    args: tuple[Expression, ...]


Expression = Variable | Term | Call


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`#sum(?v, ?d)`: over the distinct tuples of `args` within a group, the first is summed."""

    function: str
    args: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Atom:
    predicate: str
    args: tuple[Variable | Term | Aggregate, ...]

    def variables(self) -> Iterator[Variable]:
        """Its variables in order, repeated ones repeated; those inside an aggregate are not among them."""
        return (a for a in self.args if isinstance(a, Variable))


@dataclass(frozen=True, slots=True)
class Negation:
    atom: Atom


@dataclass(frozen=True, slots=True)
class Condition:
    expression: Expression


@dataclass(frozen=True, slots=True)
class Assignment:
    variable: Variable
    expression: Expression


Literal = Atom | Negation | Condition | Assignment


def expression_variables(expression: Expression) -> Iterator[Variable]:
    """The variables of an expression, in order of appearance."""
    if isinstance(expression, Variable):
        yield expression
    elif isinstance(expression, Call):
        for arg in expression.args:
            yield from expression_variables(arg)


def literal_variables(literal: Literal) -> set[Variable]:
    """All variables of a body literal."""
    if isinstance(literal, Atom):
        return set(literal.variables())
    if isinstance(literal, Negation):
        return set(literal.atom.variables())
    if isinstance(literal, Condition):
        return set(expression_variables(literal.expression))
    return {literal.variable, *expression_variables(literal.expression)}


@dataclass(frozen=True)
class Rule:
    """`heads :- body`. `bound`: most facts a recursion that creates values may add. `cartesian`: a product is meant.

    `report`: matches of this constraint are listed (`KnowledgeBase.inconsistencies`) instead of refused.
    """

    heads: tuple[Atom, ...]
    body: tuple[Literal, ...]
    bound: int | None = None
    cartesian: bool = False
    report: bool = False
    name: str | None = field(default=None, compare=False)
    location: Location | None = field(default=None, compare=False)

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """The positive body atoms, in order."""
        return tuple(b for b in self.body if isinstance(b, Atom))

    @cached_property
    def literals(self) -> tuple[Atom | Negation, ...]:
        """The positive and negated body atoms, in order: those that read a set of facts."""
        return tuple(b for b in self.body if isinstance(b, Atom | Negation))

    @cached_property
    def negations(self) -> tuple[Negation, ...]:
        return tuple(b for b in self.body if isinstance(b, Negation))

    @cached_property
    def aggregate(self) -> Aggregate | None:
        """The aggregate of the head, if this is an aggregate rule (at most one, in a single head)."""
        return next((a for h in self.heads for a in h.args if isinstance(a, Aggregate)), None)

    @property
    def is_constraint(self) -> bool:
        return not self.heads

    @cached_property
    def key(self) -> str:
        """Equal for rules that differ only in the names of their variables."""
        names: dict[str, str] = {}
        return _VARIABLE.sub(
            lambda m: names.setdefault(m[0], f"Variable(name={len(names)})"), repr((self.heads, self.body))
        )

    @cached_property
    def _hash(self) -> int:
        return hash((self.heads, self.body, self.bound, self.cartesian, self.report))

    def __hash__(self) -> int:
        """Kept: rules are looked up again and again."""
        return self._hash

    def __str__(self) -> str:
        from tidelog.rules.printer import format_rule

        return format_rule(self)


@dataclass(frozen=True, slots=True)
class Import:
    """`@import predicate :- format{resource="…", …} .`"""

    predicate: str
    format: str
    parameters: dict[str, object]
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Export:
    """`@export predicate :- format{…} .`"""

    predicate: str
    format: str
    parameters: dict[str, object]
    location: Location | None = field(default=None, compare=False)


@dataclass
class RuleFile:
    """All that a rule file says."""

    rules: list[Rule] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    exports: list[Export] = field(default_factory=list)
    prefixes: dict[str, str] = field(default_factory=dict)
