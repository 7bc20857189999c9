"""The abstract syntax of rules, shared by the parser, the printer, the checks and all engines.

A rule is `heads :- body`. Head arguments are variables, terms or (in aggregate rules) one `Aggregate`. Arguments of
body atoms are variables and terms. Computed values are assigned in the body: the parser turns `p(?x + 1) :- q(?x)` into
`p(?_1) :- q(?x), ?_1 = ?x + 1`. So engines see four kinds of body literal:

    Atom         parent(?x, ?y)
    Negation     ~parent(?x, _)      there is no such fact, for any value of a variable that occurs only here
    Assignment   ?n = ?m + 1         binds ?n
    Condition    ?n >= 18            the match is dropped if this is false or has no value

A triple `[?x, ub:worksFor, ?y]` is the atom `triple(?x, ub:worksFor, ?y)`. A wildcard `_` is a variable with a fresh
name that starts with `_`. A rule without heads is a constraint. A rule without a body is an axiom: its heads hold while
the rule is in the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from tidelog.errors import Location
from tidelog.model.terms import Fact, Term

_VARIABLE = re.compile(r"Variable\(name='\w*'\)")


@dataclass(frozen=True, slots=True)
class Variable:
    name: str

    def __str__(self) -> str:
        return f"?{self.name}"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a built-in function (upper-case name) or operator (`+ - * / = != < <= > >=`)."""

    function: str
    args: tuple[Expression, ...]


Expression = Variable | Term | Call


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`#sum(?v, ?d)` sums the first component of the distinct tuples of `args` in each group."""

    function: str
    args: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Atom:
    predicate: str
    args: tuple[Variable | Term | Aggregate, ...]

    def variables(self) -> Iterator[Variable]:
        """The variables in order, with repetitions, without those of an aggregate."""
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


def all_atoms(rule: Rule) -> list[Atom]:
    """The heads, then the positive and negated body atoms."""
    return [*rule.heads, *(b.atom if isinstance(b, Negation) else b for b in rule.literals)]


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
    """`heads :- body`.

    `bound` limits the facts that a value-creating recursion adds. `cartesian` allows a cartesian product in the body.
    `report`: matches of this constraint are listed (`KnowledgeBase.inconsistencies`) instead of refused.
    `written` is the text of the user's rule, if the parser made several rules from it.
    """

    heads: tuple[Atom, ...]
    body: tuple[Literal, ...]
    bound: int | None = None
    cartesian: bool = False
    report: bool = False
    name: str | None = field(default=None, compare=False)
    location: Location | None = field(default=None, compare=False)
    written: str | None = field(default=None, compare=False)

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """The positive body atoms, in order."""
        return tuple(b for b in self.body if isinstance(b, Atom))

    @cached_property
    def literals(self) -> tuple[Atom | Negation, ...]:
        """The positive and negated body atoms, in order. These read facts."""
        return tuple(b for b in self.body if isinstance(b, Atom | Negation))

    @cached_property
    def negations(self) -> tuple[Negation, ...]:
        return tuple(b for b in self.body if isinstance(b, Negation))

    @cached_property
    def aggregate(self) -> Aggregate | None:
        """The aggregate of an aggregate rule, else None. Such a rule has one head with one aggregate."""
        return next((a for h in self.heads for a in h.args if isinstance(a, Aggregate)), None)

    @property
    def is_constraint(self) -> bool:
        return not self.heads

    @cached_property
    def key(self) -> str:
        """A text that is equal for rules that differ only in the names of their variables."""
        names: dict[str, str] = {}
        return _VARIABLE.sub(
            lambda m: names.setdefault(m[0], f"Variable(name={len(names)})"), repr((self.heads, self.body))
        )

    @cached_property
    def _hash(self) -> int:
        return hash((self.heads, self.body, self.bound, self.cartesian, self.report))

    def __hash__(self) -> int:
        """Cached, because rules are looked up often."""
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
    """The contents of a rule file."""

    rules: list[Rule] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    exports: list[Export] = field(default_factory=list)
    prefixes: dict[str, str] = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list, compare=False)  # the names that `@parameter` declares
    # (predicate, number of arguments) -> its first fact and the place of this fact
    first_facts: dict[tuple[str, int], tuple[Fact, Location]] = field(default_factory=dict, compare=False)

    def add(self, other: RuleFile) -> None:
        """Add the contents of another file."""
        for name in ("rules", "facts", "imports", "exports", "parameters"):
            getattr(self, name).extend(getattr(other, name))
        self.prefixes |= other.prefixes
        self.first_facts = other.first_facts | self.first_facts
