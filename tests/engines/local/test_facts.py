"""However a fact set is held (one array, tables, tables with a change beside them), it is the same set.

Where one form ends and another begins is a matter of size; here the limits are so low that small sets meet all of them.
"""

from __future__ import annotations

from random import Random

import pytest

from tidelog import tuning
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import all_from
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.model.terms import Fact, bare
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.syntax import Atom, Variable

NAMES = [bare(c) for c in "abcdefgh"]
ARITIES = {"none": 0, "one": 1, "two": 2, "three": 3, "triple": 3}
RULES = parse_rules("""
    out(?x, ?y) :- two(?x, ?z), two(?z, ?y) .
    out(?x, ?y) :- [?x, a, ?y], one(?y) .
    out(?x, ?p) :- [?x, ?p, ?y], one(?x), ~two(?x, ?y) .
    out(?x, ?x) :- one(?x), none() .
""")


def limits(monkeypatch: pytest.MonkeyPatch, random: Random) -> None:
    choices = {
        "MOST_CODED": (0, 5, 40, 10**6),
        "ALWAYS_COPIED": (0, 8),
        "COPIED_IF_UNREAD": (0, 8),
        "SMALL_CHANGE_RATIO": (0, 1, 3),
        "MOST_CORRECTIONS": (0, 4, 256),
        "MOST_FIRST_CORRECTIONS": (0, 6, 512),
    }
    for name, values in choices.items():
        monkeypatch.setattr(tuning, name, random.choice(values))


def random_facts(random: Random, wide: bool) -> set[Fact]:
    names = [n for n in ARITIES if wide or n != "three"]
    return {
        Fact(name, tuple(random.choice(NAMES) for _ in range(ARITIES[name])))
        for name in random.choices(names, k=random.choice((0, 2, 20, 120)))
    }


@pytest.mark.parametrize("seed", range(40))
def test_chains_of_set_operations(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    engine = LocalEngine()
    made: list[tuple[set[Fact], LocalFacts]] = []
    for _ in range(12):
        limits(monkeypatch, random)
        facts = random_facts(random, wide=seed % 3 == 0)
        made.append((facts, engine.fact_set(facts)))
        (left, mine), (right, theirs) = random.choice(made[-6:]), random.choice(made)
        if random.random() < 0.3:
            list(mine)  # a set that was read may be held differently
        made += [(left | right, mine | theirs), (left - right, mine - theirs), (left & right, mine & theirs)]
    for expected, found in made:
        check(engine, expected, found)


def check(engine: LocalEngine, expected: set[Fact], found: LocalFacts) -> None:
    present = {fact.predicate for fact in expected}
    assert len(found) == len(expected)
    assert found.arities() == {name: ARITIES[name] for name in present}
    assert sorted(found) == sorted(expected)
    assert found.predicates() == {name: sum(f.predicate == name for f in expected) for name in present}
    for fact in random_facts(Random(len(expected)), wide=True):
        first = Atom(fact.predicate, (*fact.args[:1], *(Variable(f"v{i}") for i in range(len(fact.args[1:])))))
        matched = any(f.predicate == fact.predicate and f.args[:1] == fact.args[:1] for f in expected)
        assert found.may_match(first) or not matched
    same = engine.fact_set(expected)
    one, other = Work(), Work()
    assert set(engine.derive([all_from(r, found) for r in RULES], one)) == set(
        engine.derive([all_from(r, same) for r in RULES], other)
    )
    assert one == other
