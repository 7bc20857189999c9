"""Rules with superscripts: how a rule is rewritten into rules that compute its change (Volz, Staab, Motik 2003).

A predicate p gets others, written with a superscript; `p` itself is the materialisation before the change:

    p^Del    what may have to go: all that used something deleted
    p^Red    what of p^Del has another derivation
    p^Ins    what has a derivation from something inserted
    p^New    the materialisation after the change
    p^Plus   what is new           p^Minus   what is gone
    p^Temp   p computed afresh: after a change of its rules, and for aggregates at any change
    p^Ext    the asserted facts of a predicate that has rules, so each such p has one more rule: `p :- p^Ext`

A rule `p :- r1 .. rn` becomes (*dynamic* rules), and a predicate p that has rules gets (*static* rules)

    D   p^Del :- r1 .. ri^Del .. rn             N   p^New   :- p, ~p^Del      p^New :- p^Red      p^New :- p^Ins
    R   p^Red :- p^Del, r1^New .. rn^New        P   p^Plus  :- p^Ins, ~p
    I   p^Ins :- r1^New .. ri^Ins .. rn^New     M   p^Minus :- p^Del, ~p^Ins, ~p^Red

A negated atom ~s adds `p^Del :- s^Plus, r1 .. rn, ~s` and `p^Ins :- s^Minus, r1^New .. rn^New, ~s^New`.
A superscript is no part of a name that a program would have, and prints as `<p^Del>(?x)`, which parses back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from tidelog.rules.normalise import fresh_variables
from tidelog.rules.syntax import (
    Assignment,
    Atom,
    Call,
    Condition,
    Expression,
    Literal,
    Negation,
    Rule,
    Variable,
    literal_variables,
)
from tidelog.rules.unnegated import unnegated

OLD = ""
DEL, RED, INS, NEW, PLUS, MINUS, TEMP, EXT = "Del", "Red", "Ins", "New", "Plus", "Minus", "Temp", "Ext"
SUPERSCRIPTS = frozenset({DEL, RED, INS, NEW, PLUS, MINUS, TEMP, EXT})
EXT_DEL, EXT_INS, EXT_NEW = (f"{EXT}^{mark}" for mark in (DEL, INS, NEW))


@dataclass(frozen=True, slots=True)
class Marked:
    """A rule whose heads carry one superscript, and each positive or negated body atom, in order, its own."""

    rule: Rule
    head: str
    body: tuple[str, ...]

    def printable(self) -> Rule:
        """The rule with its superscripts as part of the names."""
        marks = iter(self.body)
        return replace(
            self.rule,
            heads=tuple(_raised(h, self.head) for h in self.rule.heads),
            body=tuple(_raised_literal(b, marks) for b in self.rule.body),
            name=None,
        )


def raised(predicate: str, mark: str) -> str:
    """The name of a predicate with a superscript."""
    return f"{predicate}^{mark}" if mark else predicate


def _raised(atom: Atom, mark: str) -> Atom:
    return Atom(raised(atom.predicate, mark), atom.args)


def _raised_literal(literal: Literal, marks: Iterator[str]) -> Literal:
    if isinstance(literal, Atom):
        return _raised(literal, next(marks))
    return Negation(_raised(literal.atom, next(marks))) if isinstance(literal, Negation) else literal


def deletions(rule: Rule) -> Iterator[Marked]:
    """D: one rule for each positive body atom."""
    for i, literal in enumerate(_sources(rule)):
        if isinstance(literal, Atom):
            yield Marked(rule, DEL, _marks(rule, OLD, i, DEL))


def rederivations(rule: Rule, wanted: Callable[[Atom], bool] = lambda head: True) -> Iterator[Marked]:
    """R: one rule for each head that is wanted."""
    if not any(map(wanted, rule.heads)):
        return
    assigned = _with_invented_names(rule, (v for head in rule.heads for v in head.variables()))
    for head in filter(wanted, assigned.heads):
        yield Marked(replace(assigned, heads=(head,), body=(head, *assigned.body)), RED, (DEL, *_marks(rule, NEW)))


def insertions(rule: Rule) -> Iterator[Marked]:
    """I: one rule for each positive body atom."""
    for i, literal in enumerate(_sources(rule)):
        if isinstance(literal, Atom):
            yield Marked(rule, INS, _marks(rule, NEW, i, INS))


def dynamic_rules(rule: Rule) -> tuple[Marked, ...]:
    """What one rule of the program contributes."""
    if rule.aggregate is not None:
        return tuple(_computed_afresh(rule))
    negated = [negation.atom.variables() for negation in rule.negations]
    changed = [unnegated(_with_invented_names(rule, held), number) for number, held in enumerate(negated)]
    return (
        *deletions(rule),
        *(Marked(r, DEL, (PLUS, *_marks(rule, OLD))) for r in changed),
        *rederivations(rule),
        *insertions(rule),
        *(Marked(r, INS, (MINUS, *_marks(rule, NEW))) for r in changed),
    )


def static_rules(predicate: str, arity: int) -> tuple[Marked, ...]:
    """N, P and M: what a predicate contributes when it gets its first rule."""
    p = general_atom(predicate, arity)
    return (
        Marked(Rule((p,), (p, Negation(p))), NEW, (OLD, DEL)),
        Marked(Rule((p,), (p,)), NEW, (RED,)),
        Marked(Rule((p,), (p,)), NEW, (INS,)),
        Marked(Rule((p,), (p, Negation(p))), PLUS, (INS, OLD)),
        Marked(Rule((p,), (p, Negation(p), Negation(p))), MINUS, (DEL, INS, RED)),
    )


def assertion_rules(predicate: str, arity: int) -> tuple[Marked, ...]:
    """What the rule `p :- p^Ext` contributes."""
    p = general_atom(predicate, arity)
    return (
        Marked(Rule((p,), (p,)), DEL, (EXT_DEL,)),
        Marked(Rule((p,), (p, p)), RED, (DEL, EXT_NEW)),
        Marked(Rule((p,), (p,)), INS, (EXT_INS,)),
    )


def extensional_rules(predicate: str, arity: int) -> tuple[Marked, ...]:
    """The state after the change of a predicate whose p^Del and p^Ins are given; not counted by the paper."""
    p = general_atom(predicate, arity)
    return (
        Marked(Rule((p,), (p, Negation(p))), NEW, (OLD, DEL)),
        Marked(Rule((p,), (p,)), NEW, (INS,)),
        Marked(Rule((p,), (p, Negation(p))), PLUS, (INS, OLD)),
        Marked(Rule((p,), (p, Negation(p))), MINUS, (DEL, INS)),
    )


def temporary_rules(
    predicate: str, arity: int, rules: Iterable[Rule], recursive: frozenset[str], asserted: bool = True
) -> Iterator[Marked]:
    """The whole extension of p by its `rules`, and how p^Del and p^Ins follow from it; for a change of its rules.

    Atoms of p read p^Temp. So do those of the predicates that depend on p and p on them (the paper has p alone, which
    would let two such predicates keep each other after a rule is gone); all others are up to date in their p^New.
    """
    p = general_atom(predicate, arity)
    if asserted:
        yield Marked(Rule((p,), (p,)), TEMP, (EXT_NEW,))
    for rule in rules:
        marks = tuple(TEMP if a.predicate in recursive else NEW for a in _atoms_read(rule))
        for head in (h for h in rule.heads if h.predicate == predicate):
            yield Marked(replace(rule, heads=(head,)), TEMP, marks)
    yield from _differences(p)


def all_atoms(rule: Rule) -> list[Atom]:
    """The heads, and the positive and negated body atoms."""
    return [*rule.heads, *_atoms_read(rule)]


def general_atom(predicate: str, arity: int) -> Atom:
    """An atom that every fact of the predicate matches."""
    return Atom(predicate, tuple(Variable(f"x{i + 1}") for i in range(arity)))


def _computed_afresh(rule: Rule) -> Iterator[Marked]:
    """An aggregate rule: its facts after the change against those before."""
    (head,) = rule.heads
    p = general_atom(head.predicate, len(head.args))
    yield Marked(rule, TEMP, _marks(rule, NEW))
    yield from _differences(p)
    yield Marked(Rule((p,), (p, p)), RED, (DEL, TEMP))


def _differences(p: Atom) -> Iterator[Marked]:
    yield Marked(Rule((p,), (p, Negation(p))), INS, (TEMP, OLD))
    yield Marked(Rule((p,), (p, Negation(p))), DEL, (OLD, TEMP))


def _sources(rule: Rule) -> list[Atom | Negation]:
    return [b for b in rule.body if isinstance(b, Atom | Negation)]


def _atoms_read(rule: Rule) -> list[Atom]:
    return [b.atom if isinstance(b, Negation) else b for b in _sources(rule)]


def _marks(rule: Rule, everywhere: str, place: int = -1, there: str = "") -> tuple[str, ...]:
    """One mark for each source of the rule, and another at one place."""
    return tuple(there if i == place else everywhere for i in range(len(_sources(rule))))


def _with_invented_names(rule: Rule, held: Iterable[Variable]) -> Rule:
    """The rule ready for an atom that will hold some variables: those it computes stay computed.

    `p(?y) :- q(?x), ?y = ?x + 1` with p(?y) in the body would compare values instead of computing the term; under a
    name that the parser invents it does not.
    """
    held = set(held)
    computed = [b.variable for b in rule.body if isinstance(b, Assignment) and b.variable in held]
    fresh = fresh_variables(v.name for b in rule.body for v in literal_variables(b))
    names = {v: next(fresh) for v in computed if not v.name.startswith("_")}
    if not names:
        return rule
    heads = tuple(_renamed_atom(h, names) for h in rule.heads)
    return replace(rule, heads=heads, body=tuple(_renamed(b, names) for b in rule.body))


Names = dict[Variable, Variable]


def _renamed(literal: Literal, names: Names) -> Literal:
    if isinstance(literal, Atom):
        return _renamed_atom(literal, names)
    if isinstance(literal, Negation):
        return Negation(_renamed_atom(literal.atom, names))
    expression = _renamed_expression(literal.expression, names)
    if isinstance(literal, Condition):
        return Condition(expression)
    return Assignment(names.get(literal.variable, literal.variable), expression)


def _renamed_atom(atom: Atom, names: Names) -> Atom:
    return Atom(atom.predicate, tuple(names.get(a, a) if isinstance(a, Variable) else a for a in atom.args))


def _renamed_expression(expression: Expression, names: Names) -> Expression:
    if isinstance(expression, Variable):
        return names.get(expression, expression)
    if isinstance(expression, Call):
        return Call(expression.function, tuple(_renamed_expression(a, names) for a in expression.args))
    return expression
