"""`derive_pivoted` takes rules all at once: same facts and same derivations as rule by rule."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

import pytest

from tests.reference.engine import ReferenceEngine
from tidelog import tuning
from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.engines.local.engine import LocalEngine
from tidelog.model.terms import Fact, bare
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)

NAMES = [bare(c) for c in "abcde"]
ARITIES = {"p": 2, "q": 2, "c": 1, "d": 1, "z": 0, "w": 3, "triple": 3}
RULES = parse_rules("""
    q(?x, ?y) :- p(?x, ?y) .        q(?y, ?x) :- p(?x, ?y) .        q(?x, ?x) :- p(?x, ?x) .
    c(?x) :- p(?x, ?y) .            d(?y), c(?x) :- q(?x, ?y) .     q(?x, a) :- c(?x) .
    c(?x) :- q(?x, b) .             d(?x) :- q(b, ?x) .             d(c) :- q(a, b) .
    z() :- c(a) .                   d(e) :- z() .                   c(b) :- p(?x, ?y) .
    [?x, a, ?y] :- p(?x, ?y) .      p(?x, ?y) :- [?x, b, ?y] .      [?y, c, d] :- [?x, a, ?y] .
    [?x, ?p, ?x] :- [?x, ?p, a] .   d(?p) :- [?x, ?p, ?y] .         w(?x, ?y, a) :- p(?x, ?y) .
    c(?x) :- w(?x, ?y, ?z) .        q(?x, ?z) :- p(?x, ?y), p(?y, ?z) .
    d(?x) :- c(?x), p(?x, ?y), [?y, a, ?x] .
    d(?x) :- q(?x, a), p(?x, ?y), q(?y, b) .        d(?x) :- q(?x, b), p(?x, ?y), q(?y, c) .
    q(?x, ?z) :- p(?x, ?y), q(?y, ?z), p(?x, ?z) .  c(?x), d(?y) :- p(?x, ?x), q(?x, ?y) .
    c(?y) :- p(a, b), q(b, ?y) .                    z() :- c(?x), d(?x) .
    q(?x, ?w) :- q(?x, ?y), p(?y, ?z), q(?z, ?w) .  c(?x) :- c(?x), z() .
    d(?x) :- p(?x, ?y), ~c(?y) .    d(?x) :- p(?x, ?y), ?x != a .
""")


def random_facts(random: Random, most: int) -> list[Fact]:
    names = random.choices(list(ARITIES), weights=(4, 4, 1, 1, 1, 1, 3), k=random.randint(0, most))
    return sorted({Fact(name, tuple(random.choice(NAMES) for _ in range(ARITIES[name]))) for name in names})


def derived(engine: Engine[F], rules: Sequence[Rule], known: list[Fact], new: list[Fact]) -> tuple[set[Fact], int]:
    before, pivot, work = engine.fact_set(known) - engine.fact_set(new), engine.fact_set(new), Work()
    everything = before | pivot
    return set(engine.derive_pivoted(rules, before, pivot, everything, everything, work)), work.derivations


@pytest.mark.parametrize(("few", "most"), [(10**6, 10**6), (10**6, 4), (3, 10**6), (0, 4)])
@pytest.mark.parametrize("seed", range(25))
def test_same_as_rule_by_rule(few: int, most: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "MOST_CODED", few)
    monkeypatch.setattr(tuning, "SMALL_JOIN_BINDINGS", most)  # what would be more is left to joins in blocks
    random = Random(seed)
    rules = tuple(random.choices(RULES, k=random.randint(1, 2 * len(RULES))))  # some twice: their matches count twice
    engine = LocalEngine()
    for _ in range(3):
        known, new = random_facts(random, 40), random_facts(random, random.choice((2, 60)))
        assert derived(engine, rules, known, new) == derived(ReferenceEngine(), rules, known, new)
