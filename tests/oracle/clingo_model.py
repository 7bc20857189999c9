"""A foreign oracle: the program as an answer set program, grounded and solved by clingo.

Predicates become `m0_p0 m0_p1 …`, terms that are not integers constants `t0 t1 …`, so nothing needs quoting. Three
things are said differently there:

    ~parent(?x, ?e)                        none0(X) :- p0(X, E).   and   not none0(X)
    total(?g, #sum(?v, ?d)) :- body        rows1(G, V, D) :- body.
                                           p1(G, R) :- rows1(G, _, _), R = #sum { V, D : rows1(G, V, D) }.
    ?n < ?m                                N+0 < M+0, which has a value for numbers only
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import clingo

from tidelog.model.terms import Fact, Term, integer
from tidelog.rules.syntax import (
    Aggregate,
    Assignment,
    Atom,
    Condition,
    Expression,
    Literal,
    Rule,
    Variable,
)

EQUALITIES = ("=", "!=")
OWN = "@"  # in front of a predicate, where the mark of its program goes
INTEGER_TAIL = integer(0)[2:]


def clingo_model(rules: Sequence[Rule], facts: Iterable[Fact]) -> frozenset[Fact]:
    """The one stable model of a stratified program, as facts."""
    (model,) = clingo_models([(rules, facts)])
    return model


def clingo_models(programs: Sequence[tuple[Sequence[Rule], Iterable[Fact]]]) -> list[frozenset[Fact]]:
    """The model of each program. They are solved as one, in which each has predicates of its own."""
    translation = Translation()
    texts = [translation.program(*program).replace(OWN, f"m{number}_") for number, program in enumerate(programs)]
    models: list[set[Fact]] = [set() for _ in programs]
    for atom in _solve("\n".join(texts)):
        owner, _, own = atom.partition("_")
        fact = translation.read(own)
        if fact is not None:
            models[int(owner[1:])].add(fact)
    return list(map(frozenset, models))


def _solve(text: str) -> list[str]:
    """The atoms of the one stable model."""
    control = clingo.Control(["--warn=none"])
    control.add("base", [], text)
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        models = [list(map(str, model.symbols(atoms=True))) for model in handle]
    assert len(models) == 1, "a stratified program has exactly one stable model"
    return models[0]


class Translation:
    """Names in the answer set program, and back."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._predicates: dict[str, str] = {}  # by their names there
        self._terms: dict[Term, str] = {}
        self._term_of: dict[str, Term] = {}
        self._auxiliaries = 0
        self._lines: dict[Rule | Fact, str] = {}
        self._facts: dict[str, Fact | None] = {}

    def program(self, rules: Iterable[Rule], facts: Iterable[Fact]) -> str:
        parts: Iterable[Rule | Fact] = (*facts, *rules)
        return "\n".join(map(self._line, parts))

    def _line(self, part: Rule | Fact) -> str:
        """Programs that are solved as one have most of their facts and rules in common."""
        if part not in self._lines:
            self._lines[part] = self._fact(part) if isinstance(part, Fact) else "\n".join(self._rule(part))
        return self._lines[part]

    def _fact(self, fact: Fact) -> str:
        return f"{self._atom(Atom(fact.predicate, fact.args))}."

    def _rule(self, rule: Rule) -> list[str]:
        """One line for each head, and those that define what the rule needs besides."""
        extra: list[str] = []
        body = ", ".join(self._literal(b, _binders(rule), extra) for b in rule.body)
        if rule.aggregate:
            return [*extra, *self._aggregate(rule.heads[0], rule.aggregate, body)]
        return [*extra, *(f"{self._atom(head)} :- {body}." for head in rule.heads)]

    def read(self, atom: str) -> Fact | None:
        """The fact that an atom of a model stands for; None for an auxiliary atom."""
        if atom not in self._facts:
            name, _, args = atom.removesuffix(")").partition("(")
            predicate = self._predicates.get(name)
            terms = tuple(map(self._read_term, args.split(",") if args else ()))
            self._facts[atom] = None if predicate is None else Fact(predicate, terms)
        return self._facts[atom]

    def _read_term(self, text: str) -> Term:
        return self._term_of.get(text) or integer(int(text))

    def _aggregate(self, head: Atom, aggregate: Aggregate, body: str) -> list[str]:
        at = head.args.index(aggregate)
        group = [self._place(a) for a in (*head.args[:at], *head.args[at + 1 :])]
        row = [f"A{i}" for i in range(len(aggregate.args))]
        rows = self._auxiliary("rows")
        result = [*group[:at], "R", *group[at:]]
        variables = [text for text in group if text[0] == "V"]
        return [
            f"{_call(rows, [*variables, *map(_variable, aggregate.args)])} :- {body}.",
            f"{_call(self._predicate(head.predicate), result)} :- {_call(rows, [*variables, *('_' for _ in row)])}, "
            f"R = #{aggregate.function} {{ {','.join(row)} : {_call(rows, [*variables, *row])} }}.",
        ]

    def _literal(self, literal: Literal, binders: set[Variable], extra: list[str]) -> str:
        if isinstance(literal, Atom):
            return self._atom(literal)
        if isinstance(literal, Assignment):
            return f"{_variable(literal.variable)} = {self._expression(literal.expression)}"
        if isinstance(literal, Condition):
            return self._condition(literal.expression)
        shared = [_variable(v) for v in dict.fromkeys(literal.atom.variables()) if v in binders]
        some = _call(self._auxiliary("some"), shared)
        extra.append(f"{some} :- {self._atom(literal.atom)}.")
        return f"not {some}"

    def _condition(self, expression: Expression) -> str:
        assert not isinstance(expression, str | Variable)
        left, right = map(self._expression, expression.args)
        if expression.function in EQUALITIES:
            return f"{left} {expression.function} {right}"
        return f"{left}+0 {expression.function} {right}+0"

    def _expression(self, expression: Expression) -> str:
        if isinstance(expression, str | Variable):
            return self._place(expression)
        left, right = map(self._expression, expression.args)
        return f"({left} {expression.function} {right})"

    def _atom(self, atom: Atom) -> str:
        return _call(self._predicate(atom.predicate), [self._place(a) for a in atom.args])

    def _place(self, place: Variable | Term | Aggregate) -> str:
        assert not isinstance(place, Aggregate)
        if isinstance(place, Variable):
            return _variable(place)
        if place.endswith(INTEGER_TAIL):
            return place[1 : -len(INTEGER_TAIL)]
        name = self._terms.setdefault(place, f"t{len(self._terms)}")
        self._term_of[name] = place
        return name

    def _predicate(self, predicate: str) -> str:
        name = self._names.setdefault(predicate, f"p{len(self._names)}")
        self._predicates[name] = predicate
        return OWN + name

    def _auxiliary(self, prefix: str) -> str:
        self._auxiliaries += 1
        return f"{OWN}{prefix}{self._auxiliaries}"


def _binders(rule: Rule) -> set[Variable]:
    assigned = {b.variable for b in rule.body if isinstance(b, Assignment)}
    return assigned.union(*(atom.variables() for atom in rule.atoms))


def _variable(variable: Variable) -> str:
    return f"V{variable.name}"


def _call(name: str, args: Sequence[str]) -> str:
    return f"{name}({','.join(args)})" if args else name
