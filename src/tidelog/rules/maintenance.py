"""The maintenance program: the rules that compute what a change of facts or rules does, as rules one can print.

What each rule and each predicate contributes is told in `marked`. The contributions are kept apart, so that a rule
that comes or goes brings or takes only its own (Algorithm 1 of Volz, Staab, Motik 2003).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from tidelog.errors import RuleError
from tidelog.rules.components import strongly_connected
from tidelog.rules.marked import (
    DEL,
    EXT,
    OLD,
    SUPERSCRIPTS,
    Marked,
    all_atoms,
    assertion_rules,
    dynamic_rules,
    extensional_rules,
    raised,
    static_rules,
    temporary_rules,
)
from tidelog.rules.printer import format_predicate, format_rule
from tidelog.rules.syntax import Rule


class MaintenanceRules:
    """The maintenance rules of a program that changes.

    `views` are predicates without asserted facts: they get no rule `p :- p^Ext`.

    >>> from tidelog.rules.parser import parse_rules
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
