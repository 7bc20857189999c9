"""One random rule: a body that grows literal by literal, then heads over the variables that the body binds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.oracle.signatures import ANY, NUMBER, NUMBERS, PROPERTIES, PROPERTY, Signature, random_term
from tidelog.model.terms import TRIPLE, Term, integer
from tidelog.rules.syntax import (
    Aggregate,
    Assignment,
    Atom,
    Call,
    Condition,
    Expression,
    Literal,
    Negation,
    Rule,
    Variable,
)

RECURSION_BOUND = 1000
ENOUGH = 6

TERM_VARIABLES = tuple(map(Variable, "xyzw"))
NUMBER_VARIABLES = tuple(map(Variable, "nmk"))
COMPARISONS = ("<", "<=", ">", ">=", "=", "!=")


class Body:
    """A rule body under construction, and the variables it binds so far."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.literals: list[Literal] = []
        self.terms: list[Variable] = []
        self.numbers: list[Variable] = []
        self._fresh = 0

    @property
    def bound(self) -> list[Variable]:
        return self.terms + self.numbers

    def add_atom(self, signature: Signature) -> None:
        args = tuple(self._place(column) for column in signature.columns)
        self.literals.append(Atom(signature.predicate, args))
        for arg, column in zip(args, signature.columns, strict=True):
            if isinstance(arg, Variable) and not arg.name.startswith("_") and arg not in self.bound:
                (self.numbers if column == NUMBER else self.terms).append(arg)

    def add_negation(self, signature: Signature) -> None:
        """A negated atom over bound variables, constants, wildcards and variables of its own, also repeated."""
        own = [self.fresh("e"), self.fresh("e")]
        args = tuple(self._negated_place(column, own) for column in signature.columns)
        self.literals.append(Negation(Atom(signature.predicate, args)))

    def add_comparison(self) -> None:
        """Numbers compare in every way; other terms only for equality, which has a meaning for all of them."""
        if self.numbers and (not self.terms or self.random.random() < 0.6):
            left = self.random.choice(self.numbers)
            right: Expression = self._operand()
            if self.random.random() < 0.2:
                right = Call(self.random.choice("+-*"), (right, self.random.choice(NUMBERS)))
            self.literals.append(Condition(Call(self.random.choice(COMPARISONS), (left, right))))
        elif self.terms:
            left = self.random.choice(self.terms)
            others: list[Expression] = [*self.terms, random_term(self.random, PROPERTY)]
            right = self.random.choice(others)
            self.literals.append(Condition(Call(self.random.choice(("!=", "!=", "=")), (left, right))))

    def add_sum(self) -> Variable:
        """`?s1 = ?n * 2 + ?m`; products only with constants, because the foreign oracle counts in 32 bits."""
        operator = self.random.choice("+-*")
        right = self.random.choice(NUMBERS) if operator == "*" else self._operand()
        value = Call(operator, (self.random.choice(self.numbers), right))
        if self.random.random() < 0.3:
            value = Call(self.random.choice("+-"), (value, self._operand()))
        return self._assign(value)

    def add_step(self) -> Variable:
        """`?n < 6, ?s1 = ?n + 1`: a counter that ends; downwards too."""
        number = self.random.choice(self.numbers)
        compare, step, end = self.random.choice((("<", "+", ENOUGH), (">", "-", -2)))
        self.literals.append(Condition(Call(compare, (number, integer(end)))))
        return self._assign(Call(step, (number, integer(self.random.choice((1, 2))))))

    def _operand(self) -> Expression:
        choices: list[Expression] = [*self.numbers, *NUMBERS]
        return self.random.choice(choices)

    def _assign(self, value: Call) -> Variable:
        result = self.fresh("s")
        self.literals.append(Assignment(result, value))
        self.numbers.append(result)
        return result

    def fresh(self, prefix: str) -> Variable:
        self._fresh += 1
        return Variable(f"{prefix}{self._fresh}")

    def _place(self, column: str) -> Variable | Term:
        roll = self.random.random()
        if roll < (0.6 if column == PROPERTY else 0.12):
            return random_term(self.random, column)
        if roll < (0.65 if column == PROPERTY else 0.2):
            return self.fresh("_")
        known = self.numbers if column == NUMBER else self.bound
        if known and self.random.random() < 0.6:
            return self.random.choice(known)
        return self.random.choice(NUMBER_VARIABLES if column == NUMBER else TERM_VARIABLES)

    def _negated_place(self, column: str, own: Sequence[Variable]) -> Variable | Term:
        roll = self.random.random()
        known = self.numbers if column == NUMBER else self.bound
        if known and roll < 0.6:
            return self.random.choice(known)
        if roll < 0.75:
            return random_term(self.random, column)
        return self.random.choice(own) if roll < 0.9 else self.fresh("_")

    def is_connected(self) -> bool:
        """Whether the atoms hang together through shared variables, so that no product is taken."""
        groups: list[set[Variable]] = []
        for atom in (b for b in self.literals if isinstance(b, Atom)):
            joined = set(atom.variables()).union(*(g for g in groups if not g.isdisjoint(set(atom.variables()))))
            groups = [*(g for g in groups if g.isdisjoint(joined)), joined]
        return len(groups) < 2


def random_rules(random: Random, head: Signature, signatures: Sequence[Signature]) -> list[Rule]:
    """The rules of a predicate; mostly the first reads lower levels only, so that recursion can start."""
    first = _seldom_cartesian(random, lambda: joining_rule(random, head, signatures, random.random() < 0.15))
    return [first, *(random_rule(random, head, signatures) for _ in range(random.choice((0, 1, 1, 2))))]


def random_rule(random: Random, head: Signature, signatures: Sequence[Signature]) -> Rule:
    """A rule for this head: it joins, closes, counts up, computes or aggregates."""
    kinds: list[Callable[[Random, Signature, Sequence[Signature]], Rule]] = [joining_rule]
    weights = [12]
    if head.columns in ((ANY, ANY), (NUMBER, NUMBER)):
        kinds.append(closure_rule)
        weights.append(14)
    if head.predicate == TRIPLE:
        kinds.append(property_rule)
        weights.append(12)
    if NUMBER in head.columns:
        kinds += [counting_rule, computing_rule, aggregate_rule]
        weights += [4, 4, 12]
    return _seldom_cartesian(random, lambda: random.choices(kinds, weights)[0](random, head, signatures))


def _seldom_cartesian(random: Random, make: Callable[[], Rule]) -> Rule:
    """Products have many matches, and a few of them would take most of the time of all histories."""
    rule = make()
    while rule.cartesian and random.random() < 0.8:
        rule = make()
    return rule


def joining_rule(random: Random, head: Signature, signatures: Sequence[Signature], recursive: bool = True) -> Rule:
    body = Body(random)
    if recursive and random.random() < 0.6:
        peers = [s for s in signatures if s.level == head.level and s != head]
        body.add_atom(random.choice([head, *peers * 2]))
    choices = [s for s in signatures if s.level < head.level + recursive]
    _fill(body, choices, random.choice((1, 1, 2, 2, 3)))
    _restrict(body, head.level, signatures)
    heads = [_head(body, head)]
    if random.random() < 0.15:
        heads.append(_head(body, random.choice([s for s in signatures if s.level >= head.level])))
    return _rule(body, heads)


def closure_rule(random: Random, head: Signature, signatures: Sequence[Signature]) -> Rule:
    """Transitivity over two columns of one kind: left-linear, right-linear, or through the head twice."""
    x, y, z = NUMBER_VARIABLES if head.columns[0] == NUMBER else TERM_VARIABLES[:3]
    other = random.choice([s for s in signatures if s.level <= head.level and s.columns == head.columns])
    first, second = random.choice(((head, other), (other, head), (head, head)))
    body = (Atom(first.predicate, (x, y)), Atom(second.predicate, (y, z)))
    return Rule((Atom(head.predicate, (x, z)),), body)


def property_rule(random: Random, head: Signature, signatures: Sequence[Signature]) -> Rule:
    """`[?x, p, ?y] :- [?x, q, ?y], ~[?y, r, ?w]`: stratified, if at all, by its properties."""
    one, two, three = random.sample(PROPERTIES, 3)
    x, y, _, w = TERM_VARIABLES
    negated = Negation(Atom(head.predicate, (y, three, random.choice((x, w)))))
    body: list[Literal] = [Atom(head.predicate, (x, two, y)), *([negated] if random.random() < 0.8 else [])]
    return Rule((Atom(head.predicate, random.choice(((x, one, y), (y, one, x)))),), tuple(body))


def counting_rule(random: Random, head: Signature, signatures: Sequence[Signature]) -> Rule:
    """`idea(?x, ?s1) :- idea(?x, ?n), ?n < 6, ?s1 = ?n + 1`."""
    body = Body(random)
    body.add_atom(head)
    _fill(body, [s for s in signatures if s.level <= head.level], random.choice((0, 0, 1)))
    if not body.numbers:
        return joining_rule(random, head, signatures)
    counter = body.add_step()
    others = [n for n in body.numbers if n != counter]
    args = tuple(
        (counter if i == head.columns.index(NUMBER) else random.choice(others)) if c == NUMBER else _head_arg(body, c)
        for i, c in enumerate(head.columns)
    )
    return _rule(body, [Atom(head.predicate, args)], RECURSION_BOUND)


def computing_rule(random: Random, head: Signature, signatures: Sequence[Signature]) -> Rule:
    body = Body(random)
    lower = [s for s in signatures if s.level < head.level]
    _fill(body, lower, random.choice((1, 2, 2)))
    if not body.numbers:
        return joining_rule(random, head, signatures)
    body.add_sum()
    _restrict(body, head.level, signatures)
    return _rule(body, [_head(body, head)])


def aggregate_rule(random: Random, head: Signature, signatures: Sequence[Signature]) -> Rule:
    """Groups by what else stands in the head; over one or two variables, the first a number unless only counted."""
    body = Body(random)
    _fill(body, [s for s in signatures if s.level < head.level], random.choice((1, 1, 2)))
    _restrict(body, head.level, signatures)
    if not body.bound:
        return joining_rule(random, head, signatures)
    function = random.choice(("count", "sum", "min", "max") if body.numbers else ("count",))
    first = random.choice(body.bound if function == "count" else body.numbers)
    args = (first, random.choice(body.bound)) if random.random() < 0.3 else (first,)
    at = random.choice([i for i, c in enumerate(head.columns) if c == NUMBER])
    group = _head(body, head).args
    return _rule(body, [Atom(head.predicate, (*group[:at], Aggregate(function, args), *group[at + 1 :]))])


def _fill(body: Body, choices: Sequence[Signature], count: int) -> None:
    for _ in range(count):
        body.add_atom(body.random.choice(choices))


def _restrict(body: Body, level: int, signatures: Sequence[Signature]) -> None:
    """Negations, mostly over strictly lower levels, and comparisons."""
    for _ in range(body.random.choices((0, 1, 2), (12, 4, 1))[0]):
        highest = level if body.random.random() < 0.15 else level - 1
        body.add_negation(body.random.choice([s for s in signatures if s.level <= highest]))
    for _ in range(body.random.choices((0, 1, 2), (15, 4, 1))[0]):
        body.add_comparison()


def _head(body: Body, signature: Signature) -> Atom:
    return Atom(signature.predicate, tuple(_head_arg(body, column) for column in signature.columns))


def _head_arg(body: Body, column: str) -> Variable | Term:
    known = body.numbers if column == NUMBER else body.bound
    constant = 0.6 if column == PROPERTY else 0.08
    if not known or body.random.random() < constant:
        return random_term(body.random, column)
    return body.random.choice(known)


def _rule(body: Body, heads: list[Atom], bound: int | None = None) -> Rule:
    """Half of the bodies are shuffled: the order of the literals must not matter."""
    if body.random.random() < 0.5:
        body.random.shuffle(body.literals)
    return Rule(tuple(heads), tuple(body.literals), bound, cartesian=not body.is_connected())
