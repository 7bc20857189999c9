"""A printed maintenance program run as an ordinary program: the text is parsed, and the reference engine closes it.

Stored are the materialisation before the change under the predicates' own names, the asserted facts of predicates with
rules as p^Ext, and the change as r^Del and r^Ins, or p^Ext^Del and p^Ext^Ins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from tests.algorithms.declarative_dred.change_rules import given_state, transition
from tests.oracle.histories import State
from tests.reference.engine import least_model
from tests.reference.selection import Selection
from tidelog.model.terms import Fact
from tidelog.rules.maintenance_rules import DEL, EXT, INS, MINUS, PLUS, with_superscript
from tidelog.rules.parsing.parser import parse_facts, parse_rules
from tidelog.rules.printer import format_rule
from tidelog.rules.syntax import Rule

Facts = frozenset[Fact]


def state(rules: str, facts: str) -> State:
    return State.of(frozenset(parse_facts(facts)), tuple(parse_rules(rules)))


@dataclass(frozen=True)
class Run:
    """What the maintenance predicates hold after a run."""

    model: Facts
    derived: frozenset[str]

    def __getitem__(self, mark: str) -> Facts:
        """The facts with this superscript, without it."""
        return frozenset(
            Fact(name, f.args)
            for f in self.model
            if (name := f.predicate.removesuffix(f"^{mark}")) in self.derived - {f.predicate}
        )


def run(before: State, after: State, views: Collection[str] = ()) -> Run:
    """The maintenance program of the change between two states, printed, parsed and run."""
    rules = [*before.rules, *after.rules]
    program = [*transition(before.rules, after.rules, views), *given_state(rules, views)]
    derived = frozenset(h.predicate for r in rules for h in r.heads)
    return Run(least_model(_again(program), frozenset(_stored(before, after, derived))), derived)


def _again(rules: Iterable[Rule]) -> list[Rule]:
    return parse_rules("\n".join(map(format_rule, rules)))


def _stored(before: State, after: State, derived: Collection[str]) -> Iterable[Fact]:
    yield from before.model
    changes = ((before.facts, ""), (before.facts - after.facts, DEL), (after.facts - before.facts, INS))
    for facts, mark in changes:
        for predicate, args in facts:
            name = with_superscript(predicate, EXT) if predicate in derived else predicate
            yield Fact(with_superscript(name, mark), args)


def differences(before: State, after: State, derived: Collection[str]) -> dict[str, Facts]:
    """What Plus and Minus must be."""
    gained, lost = after.model - before.model, before.model - after.model
    return {
        mark: frozenset(f for f in facts if f.predicate in derived) for mark, facts in ((PLUS, gained), (MINUS, lost))
    }


def split(part: Selection, before: State) -> State:
    """The same knowledge with one predicate in parts."""
    facts = frozenset(Fact(part.part(f.args), f.args) if f.predicate == part.predicate else f for f in before.facts)
    return State.of(facts, tuple(part.rewrite(before.rules)))
