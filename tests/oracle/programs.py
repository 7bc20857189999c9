"""Random stratified programs, each a function of its seed.

Predicates stand on levels: level 0 has facts only; a rule's positive atoms come from its head's level or below, what it
negates or aggregates mostly from strictly below. Now and then it is not, and then the rule stays only if the program is
stratified with it: by the constants in its atoms, as in `[?x, p, ?y] :- [?x, q, ?y], ~[?x, r, ?y]`.

A column holds numbers only, or any term; a variable `?n ?m ?k` occurs in a number column of the body, so that
arithmetic and `#sum` have a value; `?x ?y ?z ?w` may be anything.

Values that rules create stay bounded: a rule that computes reads lower levels only, or counts up to a guard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.oracle.random_rules import random_rules
from tests.oracle.signatures import Signature, random_facts, random_signatures
from tidelog.errors import RuleError
from tidelog.model.terms import Fact
from tidelog.rules.analysis.strata import stratify
from tidelog.rules.printer import format_fact, format_rule
from tidelog.rules.syntax import Rule


@dataclass(frozen=True)
class RandomProgram:
    """A program to replay with `random_program(seed)`; it is stratified and passes every check."""

    seed: int
    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...]
    signatures: tuple[Signature, ...]

    @property
    def rule_text(self) -> str:
        return "\n".join(map(format_rule, self.rules))

    @property
    def fact_text(self) -> str:
        return "\n".join(map(format_fact, self.facts))

    @property
    def text(self) -> str:
        return f"% random_program({self.seed})\n{self.rule_text}\n{self.fact_text}"


def random_program(seed: int) -> RandomProgram:
    random = Random(seed)
    signatures = random_signatures(random)
    rules = [r for head in signatures if head.level for r in random_rules(random, head, signatures)]
    facts = [fact for signature in signatures for fact in random_facts(random, signature)]
    return RandomProgram(seed, tuple(_stratified(rules)), tuple(facts), tuple(signatures))


def _stratified(rules: list[Rule]) -> list[Rule]:
    """All rules, or those that are stratified with the ones before them."""
    if is_stratified(rules):
        return rules
    kept: list[Rule] = []
    for rule in rules:
        if is_stratified([*kept, rule]):
            kept.append(rule)
    return kept


def is_stratified(rules: Sequence[Rule]) -> bool:
    try:
        stratify(rules)
    except RuleError:
        return False
    return True
