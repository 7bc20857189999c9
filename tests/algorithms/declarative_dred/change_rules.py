"""The parts of a maintenance program for a given change: the new state of the input, and changed rules (p^Temp).

tidelog prints the maintenance program without these parts. The tests add them, to run it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from tidelog.rules.analysis.dependencies import strongly_connected
from tidelog.rules.maintenance_rules import (
    DEL,
    EXT,
    EXT_NEW,
    INS,
    MINUS,
    NEW,
    OLD,
    PLUS,
    TEMP,
    MaintenanceRules,
    MarkedRule,
    atoms_read,
    general_atom,
    printable_rules,
    static_part,
    temporary_differences,
    with_superscript,
)
from tidelog.rules.syntax import Negation, Rule, all_atoms


def given_state(rules: Iterable[Rule], views: Collection[str] = ()) -> list[Rule]:
    """Rules for the new state of the input: predicates without rules, and asserted facts of the other predicates."""
    rules = list(rules)
    derived = {h.predicate for r in rules for h in r.heads}
    arities = arities_of(rules)
    given = [with_superscript(p, OLD if p not in derived else EXT) for p in arities if p not in views]
    sizes = {**arities, **{with_superscript(p, EXT): n for p, n in arities.items()}}
    return printable_rules(m for p in given for m in extensional_rules(p, sizes[p]))


def extensional_rules(predicate: str, arity: int) -> tuple[MarkedRule, ...]:
    """The new state and the difference of a predicate whose p^Del and p^Ins are given. Not counted in the paper."""
    p = general_atom(predicate, arity)
    return (
        MarkedRule(Rule((p,), (p, Negation(p))), NEW, (OLD, DEL)),
        MarkedRule(Rule((p,), (p,)), NEW, (INS,)),
        MarkedRule(Rule((p,), (p, Negation(p))), PLUS, (INS, OLD)),
        MarkedRule(Rule((p,), (p, Negation(p))), MINUS, (DEL, INS)),
    )


def transition(before: Iterable[Rule], after: Iterable[Rule], views: Collection[str] = ()) -> list[Rule]:
    """The maintenance rules for one change of rules: those of the rules `after`, and p^Temp for each changed predicate.

    An added rule has no D rules: they would overdelete facts that did not exist.
    """
    old, new = ({r.key: r for r in rules if not r.is_constraint} for rules in (before, after))
    both = {**old, **new}
    changed = {h.predicate: len(h.args) for key in old.keys() ^ new.keys() for h in both[key].heads}
    program = MaintenanceRules(new.values(), views)
    orphans = (static_part(p, arity, p not in views) for p, arity in changed.items() if p not in program.static)
    return printable_rules(
        [
            *(m for key, part in program.dynamic.items() for m in part if key in old or m.head != DEL),
            *(m for part in (*program.static.values(), *orphans) for m in part),
            *_temporary(changed, list(new.values()), arities_of(both.values()), views),
        ]
    )


def _temporary(
    changed: Iterable[str], rules: list[Rule], arities: Mapping[str, int], views: Collection[str]
) -> Iterator[MarkedRule]:
    """The rules for p^Temp of the changed predicates and of those that are recursive with them."""
    components = _recursive_with(rules)
    for predicate in dict.fromkeys(q for p in changed for q in (p, *sorted(components.get(p, ())))):
        together = components.get(predicate, frozenset())
        own = [r for r in rules if any(h.predicate == predicate for h in r.heads)]
        yield from temporary_rules(predicate, arities[predicate], own, together, predicate not in views)


def temporary_rules(
    predicate: str, arity: int, rules: Iterable[Rule], recursive: frozenset[str], asserted: bool = True
) -> Iterator[MarkedRule]:
    """Compute p^Temp by the `rules` of p, and p^Del and p^Ins from it, after a change of these rules.

    Atoms of p and of the predicates that are `recursive` with p read p^Temp. In the paper only p does, but then two
    such predicates would support each other after a rule is removed. Atoms of other predicates read their p^New.
    """
    p = general_atom(predicate, arity)
    if asserted:
        yield MarkedRule(Rule((p,), (p,)), TEMP, (EXT_NEW,))
    for rule in rules:
        marks = tuple(TEMP if a.predicate in recursive else NEW for a in atoms_read(rule))
        for head in (h for h in rule.heads if h.predicate == predicate):
            yield MarkedRule(replace(rule, heads=(head,)), TEMP, marks)
    yield from temporary_differences(p)


def _recursive_with(rules: list[Rule]) -> dict[str, frozenset[str]]:
    """For each predicate the predicates that are recursive with it, including itself."""
    number = {p: i for i, p in enumerate(arities_of(rules))}
    needs: list[list[int]] = [[] for _ in number]
    for rule in rules:
        for head in rule.heads:
            needs[number[head.predicate]] += (number[a.predicate] for a in all_atoms(rule)[len(rule.heads) :])
    names = list(number)
    components = [frozenset(names[i] for i in component) for component in strongly_connected(needs)]
    return {p: component for component in components for p in component}


def arities_of(rules: Iterable[Rule]) -> dict[str, int]:
    return {a.predicate: len(a.args) for r in rules for a in all_atoms(r)}
