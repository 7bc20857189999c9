"""Counts by the book: every rule instance looked at, nothing kept, on the reference engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.reference.engine import ReferenceEngine, ReferenceFacts, ReferenceTally
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import all_from
from tidelog.model.terms import Fact
from tidelog.rules.syntax import Rule

Counts = dict[Fact, int]

ENGINE = ReferenceEngine()


def instances(rules: Sequence[Rule], facts: ReferenceFacts) -> ReferenceTally:
    return ENGINE.tally([all_from(rule, facts) for rule in rules if rule.heads], Work())


def derivations(rules: Sequence[Rule], explicit: Iterable[Fact], model: Iterable[Fact]) -> Counts:
    """How many rule instances derive each fact of the model, plus one where it is explicit."""
    return dict(ENGINE.ones(ReferenceFacts(explicit)) + instances(rules, ReferenceFacts(model)))


def iterations(layers: Sequence[Sequence[Rule]], explicit: Iterable[Fact]) -> list[list[Counts]]:
    """For each layer and iteration, how many instances derive each fact that could not before that iteration."""
    known = ReferenceFacts(explicit)
    counted: list[list[Counts]] = []
    for rules in layers:
        counted.append([{}])
        so_far, new = ENGINE.ones(ReferenceFacts()), known
        while new or len(counted[-1]) == 1:
            everything = instances(rules, known)
            counted[-1].append(dict(everything - so_far))
            so_far, new = everything, everything.facts() - known
            known = known | new
        while len(counted[-1]) > 1 and not counted[-1][-1]:
            counted[-1].pop()
    return counted
