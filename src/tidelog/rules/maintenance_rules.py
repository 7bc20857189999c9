"""The maintenance program: rules that compute the effect of a change of facts or rules (Volz, Staab, Motik 2003).

Each predicate p has further predicates with superscripts; `p` itself is the materialisation before the change:

    p^Del    overdeleted facts: those with a derivation from a deleted fact
    p^Red    facts of p^Del that have another derivation
    p^Ins    facts with a derivation from an inserted fact
    p^New    the materialisation after the change
    p^Plus   added facts           p^Minus   removed facts
    p^Temp   p computed again: after a change of its rules, and for aggregates after every change
    p^Ext    the asserted facts of a predicate that has rules; each such p has the additional rule `p :- p^Ext`

*Dynamic* rules replace a rule `p :- r1 .. rn`; *static* rules belong to each predicate p that has rules:

    D   p^Del :- r1 .. ri^Del .. rn             N   p^New   :- p, ~p^Del      p^New :- p^Red      p^New :- p^Ins
    R   p^Red :- p^Del, r1^New .. rn^New        P   p^Plus  :- p^Ins, ~p
    I   p^Ins :- r1^New .. ri^Ins .. rn^New     M   p^Minus :- p^Del, ~p^Ins, ~p^Red

A negated atom ~s adds `p^Del :- s^Plus, r1 .. rn, ~s` and `p^Ins :- s^Minus, r1^New .. rn^New, ~s^New`.
Programs may not use these superscripts. `<p^Del>(?x)` is the printed form, which can be parsed.

The contribution of each rule and each predicate is kept separately, so that adding or removing a rule changes only its
own contribution (Algorithm 1 of the paper).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tidelog.errors import RuleError
from tidelog.rules.analysis.normalise import fresh_variables, pivot_on_negation, replace_in_atom, replace_in_literal
from tidelog.rules.printer import format_predicate, format_rule
from tidelog.rules.syntax import Assignment, Atom, Literal, Negation, Rule, Variable, all_atoms, literal_variables

OLD = ""
DEL, RED, INS, NEW, PLUS, MINUS, TEMP, EXT = "Del", "Red", "Ins", "New", "Plus", "Minus", "Temp", "Ext"
SUPERSCRIPTS = frozenset({DEL, RED, INS, NEW, PLUS, MINUS, TEMP, EXT})
EXT_DEL, EXT_INS, EXT_NEW = (f"{EXT}^{mark}" for mark in (DEL, INS, NEW))


@dataclass(frozen=True, slots=True)
class MarkedRule:
    """A rule with superscripts: one for all heads, and one for each positive or negated body atom, in order."""

    rule: Rule
    head: str
    body: tuple[str, ...]

    def printable(self) -> Rule:
        """The rule with the superscripts in the names of its predicates."""
        marks = iter(self.body)
        return replace(
            self.rule,
            heads=tuple(_raise_atom(h, self.head) for h in self.rule.heads),
            body=tuple(_raise_literal(b, marks) for b in self.rule.body),
            name=None,
        )


def with_superscript(predicate: str, mark: str) -> str:
    """The name of a predicate with a superscript."""
    return f"{predicate}^{mark}" if mark else predicate


def _raise_atom(atom: Atom, mark: str) -> Atom:
    return Atom(with_superscript(atom.predicate, mark), atom.args)


def _raise_literal(literal: Literal, marks: Iterator[str]) -> Literal:
    if isinstance(literal, Atom):
        return _raise_atom(literal, next(marks))
    return Negation(_raise_atom(literal.atom, next(marks))) if isinstance(literal, Negation) else literal


def deletions(rule: Rule) -> Iterator[MarkedRule]:
    """D: one rule for each positive body atom."""
    for i, literal in enumerate(rule.literals):
        if isinstance(literal, Atom):
            yield MarkedRule(rule, DEL, _marks(rule, OLD, i, DEL))


def rederivations(rule: Rule, wanted: Callable[[Atom], bool] = lambda head: True) -> Iterator[MarkedRule]:
    """R: one rule for each head for which `wanted` is true."""
    if not any(map(wanted, rule.heads)):
        return
    assigned = _with_invented_names(rule, (v for head in rule.heads for v in head.variables()))
    for head in filter(wanted, assigned.heads):
        yield MarkedRule(replace(assigned, heads=(head,), body=(head, *assigned.body)), RED, (DEL, *_marks(rule, NEW)))


def insertions(rule: Rule) -> Iterator[MarkedRule]:
    """I: one rule for each positive body atom."""
    for i, literal in enumerate(rule.literals):
        if isinstance(literal, Atom):
            yield MarkedRule(rule, INS, _marks(rule, NEW, i, INS))


def dynamic_rules(rule: Rule) -> tuple[MarkedRule, ...]:
    """The maintenance rules of one rule of the program."""
    if rule.aggregate is not None:
        return tuple(_aggregate_rules(rule))
    negated = [negation.atom.variables() for negation in rule.negations]
    changed = [pivot_on_negation(_with_invented_names(rule, held), number) for number, held in enumerate(negated)]
    return (
        *deletions(rule),
        *(MarkedRule(r, DEL, (PLUS, *_marks(rule, OLD))) for r in changed),
        *rederivations(rule),
        *insertions(rule),
        *(MarkedRule(r, INS, (MINUS, *_marks(rule, NEW))) for r in changed),
    )


def static_rules(predicate: str, arity: int) -> tuple[MarkedRule, ...]:
    """N, P and M: the maintenance rules of a predicate that has rules."""
    p = general_atom(predicate, arity)
    return (
        MarkedRule(Rule((p,), (p, Negation(p))), NEW, (OLD, DEL)),
        MarkedRule(Rule((p,), (p,)), NEW, (RED,)),
        MarkedRule(Rule((p,), (p,)), NEW, (INS,)),
        MarkedRule(Rule((p,), (p, Negation(p))), PLUS, (INS, OLD)),
        MarkedRule(Rule((p,), (p, Negation(p), Negation(p))), MINUS, (DEL, INS, RED)),
    )


def assertion_rules(predicate: str, arity: int) -> tuple[MarkedRule, ...]:
    """The maintenance rules of the rule `p :- p^Ext`."""
    p = general_atom(predicate, arity)
    return (
        MarkedRule(Rule((p,), (p,)), DEL, (EXT_DEL,)),
        MarkedRule(Rule((p,), (p, p)), RED, (DEL, EXT_NEW)),
        MarkedRule(Rule((p,), (p,)), INS, (EXT_INS,)),
    )


def general_atom(predicate: str, arity: int) -> Atom:
    """An atom that every fact of the predicate matches."""
    return Atom(predicate, tuple(Variable(f"x{i + 1}") for i in range(arity)))


def _aggregate_rules(rule: Rule) -> Iterator[MarkedRule]:
    """The maintenance rules of an aggregate rule: compare its facts after the change with those before."""
    (head,) = rule.heads
    p = general_atom(head.predicate, len(head.args))
    yield MarkedRule(rule, TEMP, _marks(rule, NEW))
    yield from temporary_differences(p)
    yield MarkedRule(Rule((p,), (p, p)), RED, (DEL, TEMP))


def temporary_differences(p: Atom) -> Iterator[MarkedRule]:
    yield MarkedRule(Rule((p,), (p, Negation(p))), INS, (TEMP, OLD))
    yield MarkedRule(Rule((p,), (p, Negation(p))), DEL, (OLD, TEMP))


def atoms_read(rule: Rule) -> list[Atom]:
    return [b.atom if isinstance(b, Negation) else b for b in rule.literals]


def _marks(rule: Rule, everywhere: str, place: int = -1, there: str = "") -> tuple[str, ...]:
    """The superscript `everywhere` for each body atom of the rule, but `there` for the atom number `place`."""
    return tuple(there if i == place else everywhere for i in range(len(rule.literals)))


def _with_invented_names(rule: Rule, held: Iterable[Variable]) -> Rule:
    """The rule with invented names for its computed variables in `held`, the variables of a new body atom.

    In `p(?y) :- p(?y), q(?x), ?y = ?x + 1` the assignment would be a comparison of values. A variable with an invented
    name is always assigned, so the terms are compared.
    """
    held = set(held)
    computed = [b.variable for b in rule.body if isinstance(b, Assignment) and b.variable in held]
    fresh = fresh_variables(v.name for b in rule.body for v in literal_variables(b))
    names = {v: next(fresh) for v in computed if not v.name.startswith("_")}
    if not names:
        return rule
    heads = tuple(replace_in_atom(h, names) for h in rule.heads)
    return replace(rule, heads=heads, body=tuple(replace_in_literal(b, names) for b in rule.body))


class MaintenanceRules:
    """The maintenance rules of a program whose rules change.

    `views` are predicates without asserted facts, which have no rule `p :- p^Ext`.

    >>> from tidelog.rules.parsing.parser import parse_rules
    >>> program = MaintenanceRules(parse_rules("reach(?x, ?y) :- edge(?x, ?y) ."))
    >>> len(program.rules())
    11
    >>> [rule] = parse_rules("reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .")
    >>> print(*program.add(rule), sep="\\n")
    <reach^Del>(?x, ?z) :- <reach^Del>(?x, ?y), edge(?y, ?z) .
    <reach^Del>(?x, ?z) :- reach(?x, ?y), <edge^Del>(?y, ?z) .
    <reach^Red>(?x, ?z) :- <reach^Del>(?x, ?z), <reach^New>(?x, ?y), <edge^New>(?y, ?z) .
    <reach^Ins>(?x, ?z) :- <reach^Ins>(?x, ?y), <edge^New>(?y, ?z) .
    <reach^Ins>(?x, ?z) :- <reach^New>(?x, ?y), <edge^Ins>(?y, ?z) .
    """

    def __init__(self, rules: Iterable[Rule] = (), views: Collection[str] = ()) -> None:
        self.views = frozenset(views)
        self.program: dict[str, Rule] = {}  # the rules of the program, by key
        self.dynamic: dict[str, tuple[MarkedRule, ...]] = {}  # maintenance rules by the key of their rule
        self.static: dict[str, tuple[MarkedRule, ...]] = {}  # maintenance rules by predicate
        self._defining: Counter[str] = Counter()  # predicate -> number of rules
        self._contributions: Counter[Rule] = Counter()  # printed rule -> number of contributions
        for rule in rules:
            self.add(rule)

    def add(self, rule: Rule) -> list[Rule]:
        """Add a rule; return the new maintenance rules (with those of its predicate if it is the first rule)."""
        if rule.is_constraint or rule.key in self.program:
            return []
        _check_names(rule)
        first = {h.predicate: len(h.args) for h in rule.heads if not self._defining[h.predicate]}
        self.static |= {p: static_part(p, arity, p not in self.views) for p, arity in first.items()}
        self._defining.update(h.predicate for h in rule.heads)
        self.program[rule.key] = rule
        self.dynamic[rule.key] = dynamic_rules(rule)
        brought = printable_rules([*(m for p in first for m in self.static[p]), *self.dynamic[rule.key]])
        self._contributions.update(brought)
        return [r for r in brought if self._contributions[r] == 1]

    def remove(self, rule: Rule) -> list[Rule]:
        """Remove a rule; return the removed maintenance rules (with those of its predicate if it was the last rule)."""
        if self.program.pop(rule.key, None) is None:
            return []
        self._defining.subtract(h.predicate for h in rule.heads)
        last = dict.fromkeys(h.predicate for h in rule.heads if not self._defining[h.predicate])
        taken = printable_rules([*(m for p in last for m in self.static.pop(p)), *self.dynamic.pop(rule.key)])
        self._contributions.subtract(taken)
        return [r for r in taken if not self._contributions[r]]

    def rules(self) -> list[Rule]:
        return printable_rules(m for _, rules in self.sections() for m in rules)

    def sections(self) -> Iterator[tuple[str, tuple[MarkedRule, ...]]]:
        """The maintenance rules by origin: the text of a rule, or a line about a predicate."""
        for key, rule in self.program.items():
            yield format_rule(rule), self.dynamic[key]
        for predicate, rules in self.static.items():
            yield f"{format_predicate(predicate)}: asserted facts, new state and difference", rules


def static_part(predicate: str, arity: int, asserted: bool) -> tuple[MarkedRule, ...]:
    """All maintenance rules of a predicate that has rules."""
    return (*(assertion_rules(predicate, arity) if asserted else ()), *static_rules(predicate, arity))


def maintenance_program(rules: Iterable[Rule], views: Collection[str] = ()) -> list[Rule]:
    """The maintenance rules of a program.

    They read these facts: p for every predicate, p^Ext for predicates with rules, and the removed and inserted facts as
    r^Del and r^Ins (or p^Ext^Del and p^Ext^Ins). The results are p^Minus and p^Plus.
    """
    return MaintenanceRules(rules, views).rules()


def format_maintenance(rules: Iterable[Rule], prefixes: Mapping[str, str] | None = None) -> str:
    """The text of the maintenance program. A comment before each part names its rule or predicate."""
    program = MaintenanceRules(rules)
    parts = []
    for title, section in program.sections():
        lines = (format_rule(rule, prefixes) for rule in printable_rules(section))
        parts.append("".join(f"{line}\n" for line in (f"% {title}", *lines)))
    return "\n".join(parts)


def printable_rules(rules: Iterable[MarkedRule]) -> list[Rule]:
    """The rules in printed form, each once."""
    return list(dict.fromkeys(m.printable() for m in rules))


def _check_names(rule: Rule) -> None:
    for atom in all_atoms(rule):
        name, _, mark = atom.predicate.rpartition("^")
        if name and mark in SUPERSCRIPTS:
            raise RuleError(
                f"the predicate <{atom.predicate}> has the name of a maintenance predicate of {name}; rename it",
                rule.location,
            )
