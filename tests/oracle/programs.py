"""Random stratified programs, each a function of its seed.

Predicates stand on levels: level 0 has facts only; a rule's positive atoms come from its head's level or below, what it
negates or aggregates from strictly below. So every program is stratified by construction. A column holds numbers
only, or any term; a variable `?n ?m ?k` occurs in a number column of the body, so that arithmetic and `#sum` have a
value; `?x ?y ?z ?w` may be anything.

Values that rules create stay bounded: a rule that computes reads lower levels only, or counts up to a guard.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.oracle.random_rules import random_rules
from tests.oracle.signatures import Signature, random_facts, random_signatures
from tidelog.model.facts import Fact
from tidelog.rules.syntax import Rule


@dataclass(frozen=True)
class RandomProgram:
    """A program to replay with `random_program(seed)`."""

    seed: int
    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...]
    signatures: tuple[Signature, ...]


def random_program(seed: int) -> RandomProgram:
    random = Random(seed)
    signatures = random_signatures(random)
    heads = [s for s in signatures if s.level]
    rules = [rule for head in heads for rule in random_rules(random, head, signatures)]
    facts = [fact for signature in signatures for fact in random_facts(random, signature)]
    return RandomProgram(seed, tuple(rules), tuple(facts), tuple(signatures))
