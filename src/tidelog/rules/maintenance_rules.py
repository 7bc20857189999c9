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

The maintenance program: the rules that compute what a change of facts or rules does, as rules one can print.

What each rule and each predicate contributes is told in `marked`. The contributions are kept apart, so that a rule
that comes or goes brings or takes only its own (Algorithm 1 of Volz, Staab, Motik 2003).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tidelog.errors import RuleError
from tidelog.rules.analysis.dependencies import strongly_connected
from tidelog.rules.analysis.normalise import fresh_variables, replace_in_atom, replace_in_literal, unnegated
from tidelog.rules.printer import format_predicate, format_rule
from tidelog.rules.syntax import (
    Assignment,
    Atom,
    Literal,
    Negation,
    Rule,
    Variable,
    literal_variables,
)

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
    for i, literal in enumerate(rule.literals):
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
    for i, literal in enumerate(rule.literals):
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


def _atoms_read(rule: Rule) -> list[Atom]:
    return [b.atom if isinstance(b, Negation) else b for b in rule.literals]


def _marks(rule: Rule, everywhere: str, place: int = -1, there: str = "") -> tuple[str, ...]:
    """One mark for each source of the rule, and another at one place."""
    return tuple(there if i == place else everywhere for i in range(len(rule.literals)))


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
    heads = tuple(replace_in_atom(h, names) for h in rule.heads)
    return replace(rule, heads=heads, body=tuple(replace_in_literal(b, names) for b in rule.body))


class MaintenanceRules:
    """The maintenance rules of a program that changes.

    `views` are predicates without asserted facts: they get no rule `p :- p^Ext`.

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
        self.dynamic: dict[str, tuple[Marked, ...]] = {}  # what each of them contributes
        self.static: dict[str, tuple[Marked, ...]] = {}  # what each predicate with rules contributes
        self._defining: Counter[str] = Counter()  # how many rules a predicate has
        self._contributions: Counter[Rule] = Counter()  # two may contribute the same
        for rule in rules:
            self.add(rule)

    def add(self, rule: Rule) -> list[Rule]:
        """The maintenance rules that a new rule brings; those of its predicate too if it is the first."""
        if rule.is_constraint or rule.key in self.program:
            return []
        _check_names(rule)
        first = {h.predicate: len(h.args) for h in rule.heads if not self._defining[h.predicate]}
        self.static |= {p: static_part(p, arity, p not in self.views) for p, arity in first.items()}
        self._defining.update(h.predicate for h in rule.heads)
        self.program[rule.key] = rule
        self.dynamic[rule.key] = dynamic_rules(rule)
        brought = _printable([*(m for p in first for m in self.static[p]), *self.dynamic[rule.key]])
        self._contributions.update(brought)
        return [r for r in brought if self._contributions[r] == 1]

    def remove(self, rule: Rule) -> list[Rule]:
        """The maintenance rules that go with a rule; those of its predicate too if it is the last."""
        if self.program.pop(rule.key, None) is None:
            return []
        self._defining.subtract(h.predicate for h in rule.heads)
        last = dict.fromkeys(h.predicate for h in rule.heads if not self._defining[h.predicate])
        taken = _printable([*(m for p in last for m in self.static.pop(p)), *self.dynamic.pop(rule.key)])
        self._contributions.subtract(taken)
        return [r for r in taken if not self._contributions[r]]

    def rules(self) -> list[Rule]:
        return _printable(m for _, rules in self.sections() for m in rules)

    def sections(self) -> Iterator[tuple[str, tuple[Marked, ...]]]:
        """The rules with what they come from: a rule of the program, or a predicate."""
        for key, rule in self.program.items():
            yield format_rule(rule), self.dynamic[key]
        for predicate, rules in self.static.items():
            yield f"{format_predicate(predicate)}: asserted facts, new state and difference", rules


def static_part(predicate: str, arity: int, asserted: bool) -> tuple[Marked, ...]:
    """What a predicate contributes as long as it has rules."""
    return (*(assertion_rules(predicate, arity) if asserted else ()), *static_rules(predicate, arity))


def maintenance_program(rules: Iterable[Rule], views: Collection[str] = ()) -> list[Rule]:
    """The maintenance rules of a program.

    To run them as they stand, give p for every predicate, p^Ext for those with rules, what is removed and inserted as
    r^Del and r^Ins (or p^Ext^Del and p^Ext^Ins), and add `given_state`. The answer is in p^Minus and p^Plus.
    """
    return MaintenanceRules(rules, views).rules()


def given_state(rules: Iterable[Rule], views: Collection[str] = ()) -> list[Rule]:
    """The new state of what is given: of predicates without rules, and of the asserted facts of the others."""
    rules = list(rules)
    derived = {h.predicate for r in rules for h in r.heads}
    arities = _arities(rules)
    given = [raised(p, OLD if p not in derived else EXT) for p in arities if p not in views]
    sizes = {**arities, **{raised(p, EXT): n for p, n in arities.items()}}
    return _printable(m for p in given for m in extensional_rules(p, sizes[p]))


def transition(before: Iterable[Rule], after: Iterable[Rule], views: Collection[str] = ()) -> list[Rule]:
    """The maintenance rules for one change of rules: those of the rules after it, and p^Temp where rules changed.

    A rule that is added deletes nothing: its D rules would mark facts that never were.
    """
    old, new = ({r.key: r for r in rules if not r.is_constraint} for rules in (before, after))
    both = {**old, **new}
    changed = {h.predicate: len(h.args) for key in old.keys() ^ new.keys() for h in both[key].heads}
    program = MaintenanceRules(new.values(), views)
    orphans = (static_part(p, arity, p not in views) for p, arity in changed.items() if p not in program.static)
    return _printable(
        [
            *(m for key, part in program.dynamic.items() for m in part if key in old or m.head != DEL),
            *(m for part in (*program.static.values(), *orphans) for m in part),
            *_temporary(changed, list(new.values()), _arities(both.values()), views),
        ]
    )


def _temporary(
    changed: Iterable[str], rules: list[Rule], arities: Mapping[str, int], views: Collection[str]
) -> Iterator[Marked]:
    """p^Temp of the predicates whose rules changed and of those that are recursive with them."""
    components = _recursive_with(rules)
    for predicate in dict.fromkeys(q for p in changed for q in (p, *sorted(components.get(p, ())))):
        together = components.get(predicate, frozenset())
        own = [r for r in rules if any(h.predicate == predicate for h in r.heads)]
        yield from temporary_rules(predicate, arities[predicate], own, together, predicate not in views)


def format_maintenance(rules: Iterable[Rule], prefixes: Mapping[str, str] | None = None) -> str:
    """The maintenance program as text that parses back, each part under the rule or predicate it comes from."""
    program = MaintenanceRules(rules)
    parts = []
    for title, section in program.sections():
        lines = (format_rule(rule, prefixes) for rule in _printable(section))
        parts.append("".join(f"{line}\n" for line in (f"% {title}", *lines)))
    return "\n".join(parts)


def _printable(rules: Iterable[Marked]) -> list[Rule]:
    """As ordinary rules, each once."""
    return list(dict.fromkeys(m.printable() for m in rules))


def _arities(rules: Iterable[Rule]) -> dict[str, int]:
    return {a.predicate: len(a.args) for r in rules for a in all_atoms(r)}


def _recursive_with(rules: list[Rule]) -> dict[str, frozenset[str]]:
    """For each predicate those that it depends on and that depend on it, itself included."""
    number = {p: i for i, p in enumerate(_arities(rules))}
    needs: list[list[int]] = [[] for _ in number]
    for rule in rules:
        for head in rule.heads:
            needs[number[head.predicate]] += (number[a.predicate] for a in all_atoms(rule)[len(rule.heads) :])
    names = list(number)
    components = [frozenset(names[i] for i in component) for component in strongly_connected(needs)]
    return {p: component for component in components for p in component}


def _check_names(rule: Rule) -> None:
    for atom in all_atoms(rule):
        name, _, mark = atom.predicate.rpartition("^")
        if name and mark in SUPERSCRIPTS:
            raise RuleError(
                f"the predicate <{atom.predicate}> has the name of a maintenance predicate of {name}; rename it",
                rule.location,
            )
