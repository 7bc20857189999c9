"""The verb `supports`: windows that follow each other show every match once, whatever their sizes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

from tests.reference.engine import ReferenceEngine
from tidelog import tuning
from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import with_body
from tidelog.dictionary import Dictionary
from tidelog.engines.local.engine import LocalEngine
from tidelog.kernel import lookup
from tidelog.model.terms import Fact, bare
from tidelog.rules.parsing.parser import parse_rules

F = TypeVar("F", bound=FactSet)

RULES = parse_rules("""
    big(?y) :- edge(?x, ?y) .
    big(?y) :- edge(?x, ?y), mark(?x, a) .
    big(?y) :- edge(?x, ?y), mark(?x, b), ~off(?x) .
    reach(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .
    reach(?x, ?z) :- edge(?x, ?y), edge(?z, ?y), mark(?y, b) .
    big(?x) :- edge(?x, ?y), mark(?y, b), off(?y) .
    big(?x) :- edge(?x, ?y), mark(?y, a), off(?y) .
    any() :- edge(?x, ?y) .
    big(?x) :- [?x, ?p, ?y], edge(?x, ?y) .
    big(a) :- edge(?x, ?y), mark(?y, a) .
    big(?x) :- off(?x) .
    big(?x) :- mark(?x, nothing) .
    big(?x) :- mark(?x, b) .
    big(a) :- off(?x) .
    [?x, c, d] :- mark(?x, nothing) .
    [?x, c, d] :- mark(?x, a) .
    reach(?x, ?y) :- edge(?y, ?x) .
    reach(?x, ?x) :- edge(?x, ?x) .
    reach(a, ?y) :- edge(?y, ?x) .
    reach(?x, ?y) :- edge(?x, ?z), edge(?z, ?z) .
    any() :- off(b) .
    [?x, a, ?y] :- edge(?x, ?y) .
    [?x, a, b] :- [?x, c, ?y] .
    edge(?x, ?y) :- [?y, a, ?x] .
    wide(?x, ?y, ?y) :- edge(?x, ?y) .
    wide(?x, ?x, a) :- reach(?x, ?y), reach(?y, ?x) .
    reach(?x, ?y) :- wide(?x, ?y, ?z), edge(?z, ?x) .
""")
WINDOWS: list[list[tuple[int, int | None]]] = [[(0, None)], [(0, 1), (1, 2), (2, None)], [(0, 3), (3, 20), (20, None)]]


def random_facts(seed: int) -> list[Fact]:
    rng = random.Random(seed)
    names = [bare(c) for c in "abcdef"]
    facts = [Fact("edge", (rng.choice(names), rng.choice(names))) for _ in range(20)]
    facts += [Fact("mark", (rng.choice(names), bare(rng.choice("ab")))) for _ in range(6)]
    facts += [Fact("triple", tuple(rng.choice(names) for _ in range(3))) for _ in range(12)]
    facts += [Fact("off", (rng.choice(names),))]
    return (
        facts
        + [Fact("big", (n,)) for n in names]
        + [Fact("reach", (a, b)) for a in names for b in names]
        + [Fact("any", ())]
        + [Fact("wide", (a, b, c)) for a in names for b in names[:3] for c in names[:3]]
    )


def run(engine: Engine[F], seed: int, windows: Sequence[tuple[int, int | None]]) -> tuple[set[Fact], int]:
    facts = engine.fact_set(random_facts(seed))
    gone = engine.fact_set(random_facts(seed)[:3])
    rest = facts - gone  # tombstones take part in the numbering, and must not be shown
    rules = [with_body(r, r.heads[0]) for r in RULES]
    work, bodies = Work(), engine.fact_set(())
    for start, stop in windows:
        found, unfinished = engine.supports(rules, facts, rest, rest, start, stop, work)
        bodies = bodies | found
        assert stop is not None or not unfinished
    return set(bodies), work.derivations


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("windows", WINDOWS, ids=str)
@pytest.mark.parametrize(("few", "most"), [(10**6, 10**6), (10**6, 20), (0, 10**6)])
def test_every_match_once(
    seed: int, windows: Sequence[tuple[int, int | None]], few: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "MOST_CODED", few)
    monkeypatch.setattr(tuning, "SMALL_JOIN_BINDINGS", most)
    assert run(LocalEngine(), seed, windows) == run(ReferenceEngine(), seed, [(0, None)])
    assert run(ReferenceEngine(), seed, windows) == run(ReferenceEngine(), seed, [(0, None)])


def in_turns(
    engine: Engine[F], seed: int, random_: random.Random, between: Callable[[], None] = lambda: None
) -> tuple[set[Fact], int]:
    """As a search asks: guards come in parts, and a wider window is for those that are not finished, some at a time.
    Calls `between` after each window.
    """
    everything = random_facts(seed)
    rest = engine.fact_set(everything) - engine.fact_set(everything[:3])
    rules = tuple(with_body(r, r.heads[0]) for r in RULES)
    work, bodies = Work(), engine.fact_set(())
    windows = [(0, 1), (1, 2), (2, 5), (5, None)]
    waiting: list[list[Fact]] = [list(dict.fromkeys(everything)), *([] for _ in windows)]
    while any(waiting):
        level = random_.choice([i for i, facts in enumerate(waiting) if facts])
        random_.shuffle(waiting[level])
        many = random_.choice((1, 3, 1000))
        some, waiting[level] = waiting[level][:many], waiting[level][many:]
        found, unfinished = engine.supports(rules, engine.fact_set(some), rest, rest, *windows[level], work)
        bodies = bodies | found
        waiting[level + 1] += unfinished
        between()
    return set(bodies), work.derivations


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("few", [0, 5, 10**6])
def test_windows_fit_together_whoever_asks(seed: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether guards are few or many, and which others they are asked about with, must not decide what is seen."""
    expected = run(ReferenceEngine(), seed, [(0, None)])
    monkeypatch.setattr(tuning, "MOST_CODED", few)
    for turn in range(10):
        monkeypatch.setattr(tuning, "GROUPED_FACTS", (0, 4, 1000)[turn % 3])
        monkeypatch.setattr(tuning, "BACKWARD_GUARDS", (2, 50, 1000)[turn // 3 % 3])
        monkeypatch.setattr(tuning, "UNFILTERED_GUARDS", (0, 1000)[turn % 2])
        assert in_turns(LocalEngine(), seed, random.Random(f"{seed} {few} {turn}")) == expected


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("left", [0, 1, 5, 20])
def test_codes_may_run_out_during_a_search(seed: int, left: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that began with codes ends with codes, so that its windows still fit together."""
    calls = iter(range(left))

    def grow() -> None:
        if next(calls, None) is None:
            monkeypatch.setattr(lookup, "_BITS", ())

    expected = run(ReferenceEngine(), seed, [(0, None)])
    assert in_turns(LocalEngine(), seed, random.Random(seed), grow) == expected


@pytest.mark.parametrize("seed", range(10))
def test_another_engine_continues_stable_windows(seed: int) -> None:
    """Rules with one atom beside the guard: each window may be that of a new engine."""
    everything = random_facts(seed)
    rules = [with_body(r, r.heads[0]) for r in RULES if len(r.body) == 1]
    reference, dictionary = ReferenceEngine(), Dictionary()
    work, expected, bodies = Work(), Work(), set[Fact]()
    for start, stop in WINDOWS[2]:
        engine = LocalEngine(dictionary=dictionary, stable_windows=True)
        facts = engine.fact_set(everything)
        found, _ = engine.supports(rules, facts, facts, facts, start, stop, work)
        bodies |= set(found)
    facts_ = reference.fact_set(everything)
    assert bodies == set(reference.supports(rules, facts_, facts_, facts_, 0, None, expected)[0])
    assert work.derivations == expected.derivations


def test_a_guard_with_more_candidates_is_unfinished() -> None:
    engine = LocalEngine()
    hub, spokes = bare("hub"), [bare(f"s{i}") for i in range(9)]
    facts = engine.fact_set([Fact("edge", (s, hub)) for s in spokes] + [Fact("edge", (hub, spokes[0]))])
    guards = engine.fact_set([Fact("big", (hub,)), Fact("big", (spokes[0],))])
    rule = with_body(RULES[0], RULES[0].heads[0])
    work = Work()
    bodies, unfinished = engine.supports([rule], guards, facts, facts, 0, 2, work)
    assert (len(bodies), work.derivations) == (3, 3)
    assert set(unfinished) == {Fact("big", (hub,))}
