"""Random histories: a program, then steps that add and remove facts and rules, each a function of its seed.

The generator knows the model after every step, so that it can aim: at making derived facts explicit, and at removing
explicit facts that are derivable. A few changes do nothing (adding what is there, removing what is not).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random

from tests.oracle.programs import RandomProgram, is_stratified, random_program
from tests.oracle.random_rules import random_rule
from tests.oracle.signatures import random_fact
from tests.oracle.support import Edges, instance_graph, on_cycles, reachable
from tests.reference.engine import model_of
from tidelog.model.terms import Fact
from tidelog.rules.analysis.strata import Stratum, stratify
from tidelog.rules.syntax import Rule

STEPS = 10


@dataclass(frozen=True)
class Step:
    """One transaction; nothing is both added and removed."""

    add: frozenset[Fact]
    remove: frozenset[Fact]
    add_rules: tuple[Rule, ...] = ()
    remove_rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class State:
    """The explicit facts and the rules at one moment, and what follows from them."""

    facts: frozenset[Fact]
    rules: tuple[Rule, ...]
    model: frozenset[Fact]

    @classmethod
    def of(cls, facts: frozenset[Fact], rules: tuple[Rule, ...]) -> State:
        return cls(facts, rules, model_of(strata_of(rules), facts))

    @cached_property
    def edges(self) -> Edges:
        return instance_graph(self.rules, self.model)

    @cached_property
    def cyclic(self) -> set[Fact]:
        return on_cycles(self.edges)

    def after(self, step: Step) -> State:
        removed = {rule.key for rule in step.remove_rules}
        kept = {rule.key: rule for rule in self.rules if rule.key not in removed}
        rules = {rule.key: rule for rule in step.add_rules} | kept
        return State.of((self.facts - step.remove) | step.add, tuple(rules.values()))


@dataclass(frozen=True)
class RandomHistory:
    """A history to replay with `random_history(seed)`; `states` has one more element than `steps`."""

    seed: int
    program: RandomProgram
    steps: tuple[Step, ...]
    states: tuple[State, ...]


def random_history(seed: int) -> RandomHistory:
    random = Random(f"history {seed}")
    program = random_program(seed)
    rules = tuple({rule.key: rule for rule in program.rules}.values())
    states = [State.of(frozenset(program.facts), rules)]
    steps: list[Step] = []
    for _ in range(STEPS):
        steps.append(_step(random, program, states[-1]))
        states.append(states[-1].after(steps[-1]))
    return RandomHistory(seed, program, tuple(steps), tuple(states))


@lru_cache(maxsize=16)
def strata_of(rules: tuple[Rule, ...]) -> list[Stratum]:
    """Kept, because rules change seldom."""
    return stratify(rules)


def _step(random: Random, program: RandomProgram, state: State) -> Step:
    add = frozenset(_additions(random, program, state))
    remove = frozenset(_removals(random, program, state)) - add
    if random.random() >= 0.25:
        return Step(add, remove)
    if random.random() < 0.5 and state.rules:
        return Step(add, remove, remove_rules=(random.choice(state.rules),))
    head = random.choice([s for s in program.signatures if s.level])
    rule = random_rule(random, head, program.signatures)
    return Step(add, remove, add_rules=(rule,) if is_stratified([*state.rules, rule]) else ())


def _additions(random: Random, program: RandomProgram, state: State) -> Iterator[Fact]:
    derived = sorted(state.model - state.facts)
    for _ in range(random.choice((0, 0, 1, 1, 2, 4))):
        if derived and random.random() < 0.45:
            yield random.choice(derived)
        else:
            yield random_fact(random, random.choice(program.signatures))


def _removals(random: Random, program: RandomProgram, state: State) -> Iterator[Fact]:
    count = random.choice((0, 1, 1, 1, 2, 3))
    if not count:
        return
    explicit = sorted(state.facts)
    used = sorted(state.facts & state.edges.keys())
    cyclic = [fact for fact in used if reachable(state.edges, [fact]) & state.cyclic]
    derivable = sorted(state.facts.intersection(fact for heads in state.edges.values() for fact in heads))
    for _ in range(count):
        roll = random.random()
        if derivable and roll < 0.25:
            yield random.choice(derivable)
        elif cyclic and roll < 0.75:
            yield random.choice(cyclic)
        elif used and roll < 0.9:
            yield random.choice(used)
        elif explicit and roll < 0.97:
            yield random.choice(explicit)
        else:
            yield random_fact(random, random.choice(program.signatures))
