"""Random histories of facts, rules and equalities, each a function of its seed.

A few terms, so that equalities meet; equalities that are asserted, that follow from functional properties and from
rules of every kind; rules over names of properties, with constants, comparisons, new values and negation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tidelog.algorithms.equality.representatives import SAME_AS
from tidelog.model.terms import Fact, Term, integer, iri
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.syntax import Atom, Rule, Variable

STEPS = 10

NAMES = [iri(name) for name in "abcdef"]
NUMBERS = [integer(n) for n in (1, 2, 3)]
PROPERTIES = [iri(name) for name in "pqfg"]
SIGNATURES = {"r": 2, "s": 1, "t": 2, "n": 2}

# Rules worth meeting often; any subset of them is stratified.
POOL = parse_rules(
    f"""
    [?y, {SAME_AS}, ?z] :- [?x, <f>, ?y], [?x, <f>, ?z] .
    [?x, {SAME_AS}, ?y] :- [?x, <g>, ?v], [?y, <g>, ?v] .
    [?x, {SAME_AS}, ?y] :- r(?x, ?y), s(?x) .
    [?x, {SAME_AS}, <c>] :- s(?x) .
    [?k, {SAME_AS}, ?m] :- n(?x, ?k), n(?x, ?m) .
    [?x, <q>, ?z] :- [?x, <p>, ?y], [?y, <p>, ?z] .
    [?x, ?q, ?y] :- [?p, <sub>, ?q], [?x, ?p, ?y] .
    [?x, <f>, ?y] :- r(?x, ?y) .
    r(?x, ?y) :- [?x, <p>, ?y], s(?y) .
    r(<a>, ?y) :- s(?y) .
    s(?x) :- r(?x, ?x) .
    s(?y) :- r(<b>, ?y) .
    s(?x) :- [?x, {SAME_AS}, <a>] .
    t(?x, ?y) :- [?x, {SAME_AS}, ?y] .
    t(?x, ?y) :- [?x, {SAME_AS}, ?y], ?x != ?y .
    t(?x, ?y) :- r(?x, ?y), ?x != ?y, ?x != <a> .
    u(?x, ?m) :- n(?x, ?k), ?m = ?k + 1 .
    u(?x, ?k) :- n(?x, ?k), ?k < 2 .
    v(?x) :- u(?x, ?k), n(?x, ?m), ?k = ?m * 2 .
    w(?x) :- s(?x), ~t(?x, _) .
    w(?x) :- s(?x), ~r(?x, _) .
    w(?x) :- n(?x, _), ~s(?x) .
    w(?x) :- [?x, <p>, ?y], ~r(?y, ?x), ~s(?y) .
    w(?x) :- n(?x, ?k), ~u(?x, ?k) .
    [?x, {SAME_AS}, ?y] :- [?y, {SAME_AS}, ?x] .
    [?x, {SAME_AS}, ?x] :- r(?x, _) .
    """
)


@dataclass(frozen=True)
class State:
    facts: frozenset[Fact]
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class History:
    """States, the first of them empty; a step is the difference of two."""

    seed: int
    states: tuple[State, ...]


def random_history(seed: int) -> History:
    random = Random(f"equality {seed}")
    states = [State(frozenset(), ()), State(frozenset(_facts(random, 14)), tuple(_rules(random)))]
    while len(states) <= STEPS + 1:
        states.append(_changed(random, states[-1]))
    return History(seed, tuple(states))


def _changed(random: Random, state: State) -> State:
    facts, rules = set(state.facts), list(state.rules)
    for _ in range(random.choice((0, 1, 1, 1, 2, 4))):
        if facts:
            facts.discard(random.choice(sorted(facts)))
    facts.update(_facts(random, random.choice((0, 1, 1, 2, 4))))
    if random.random() < 0.15 and rules:
        rules.remove(random.choice(rules))
    if random.random() < 0.15:
        rules += _rules(random)[:1]
    return State(frozenset(facts), tuple({rule.key: rule for rule in rules}.values()))


def _rules(random: Random) -> list[Rule]:
    pool = random.sample(POOL, random.randint(1, 7))
    made = [_random_rule(random) for _ in range(random.choice((0, 0, 1, 2)))]
    return list({rule.key: rule for rule in (*pool, *made)}.values())


def _random_rule(random: Random) -> Rule:
    """A positive rule; its head is nothing that is negated or computed."""
    variables = [Variable(name) for name in "xyz"]
    body = [_random_atom(random, variables, ("triple", "r", "s")) for _ in range(random.randint(1, 2))]
    head = _random_atom(random, [v for atom in body for v in atom.variables()], ("triple", "r", "s"))
    return Rule((head,), tuple(body), cartesian=True)


def _random_atom(random: Random, variables: list[Variable], predicates: tuple[str, ...]) -> Atom:
    def place() -> Variable | Term:
        return random.choice(variables) if variables and random.random() < 0.85 else random.choice(NAMES)

    predicate = random.choice(predicates)
    if predicate == "triple":
        return Atom("triple", (place(), random.choice((*PROPERTIES, SAME_AS)), place()))
    return Atom(predicate, tuple(place() for _ in range(SIGNATURES[predicate])))


def _facts(random: Random, count: int) -> Iterator[Fact]:
    for _ in range(count):
        roll = random.random()
        if roll < 0.3:
            yield _triple(random, SAME_AS)
        elif roll < 0.55:
            yield _triple(random, random.choice(PROPERTIES))
        elif roll < 0.6:
            yield Fact("triple", (random.choice(PROPERTIES), iri("sub"), random.choice(PROPERTIES)))
        elif roll < 0.63:
            yield Fact("triple", (random.choice(PROPERTIES), SAME_AS, random.choice((*PROPERTIES, SAME_AS))))
        elif roll < 0.68:
            yield Fact("triple", (random.choice(NUMBERS), SAME_AS, random.choice(NUMBERS)))
        elif roll < 0.8:
            yield Fact("n", (random.choice(NAMES), random.choice(NUMBERS)))
        else:
            name = random.choice(("r", "s"))
            yield Fact(name, tuple(random.choice(NAMES) for _ in range(SIGNATURES[name])))


def _triple(random: Random, predicate: Term) -> Fact:
    return Fact("triple", (random.choice(NAMES), predicate, random.choice(NAMES)))
