"""Sets in shards behave like Python sets, and tallies like counters; their files come and go as they should."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from random import Random

import pytest

from tests.engines.local.test_supports import in_turns, run
from tests.engines.spark.engines import SHARDS, spark_engine
from tests.oracle.test_random_sets import TIGHT, random_rows
from tests.reference.engine import ReferenceEngine
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import all_from
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.engine import SparkEngine
from tidelog.engines.spark.sharded.facts import SparkFacts, SparkTally
from tidelog.engines.spark.sharded.shard_files import ShardFile, stat
from tidelog.errors import LimitError
from tidelog.model.terms import TRIPLE, Fact, iri
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.syntax import Atom, Variable
from tidelog.settings import Settings

KINDS = [(1, 0), (2, 0), (3, 15), (7, 0), (7, 100)]
TERMS = [iri(f"t{i}") for i in range(12)]


def some_facts(random: Random) -> set[Fact]:
    most = random.choice((2, 20, 60))
    triples = {Fact(TRIPLE, f.args) for f in random_rows(random, 3, most, TERMS[:5])}
    return triples.union(*(random_rows(random, arity, most, TERMS) for arity in range(5)))


def check(expected: set[Fact], found: SparkFacts) -> None:
    sizes = Counter(f.predicate for f in expected)
    assert bool(found) == bool(expected)
    assert sorted(found) == sorted(expected) == sorted(found.to_local())
    assert (len(found), found.predicates()) == (len(expected), dict(sizes))
    assert found.arities() == {f.predicate: len(f.args) for f in expected}
    assert sorted(found.of_predicate("p2")) == sorted(f for f in expected if f.predicate == "p2")
    present = {f.args[1:] for f in expected if f.predicate == TRIPLE}
    for p, o in product(TERMS[:3], TERMS[:3]):
        matches = found.may_match(Atom(TRIPLE, (Variable("x"), p, o)))
        assert matches or (p, o) not in present


@pytest.mark.parametrize(("shards", "small"), KINDS)
def test_chains_of_set_operations(shards: int, small: int) -> None:
    random = Random(f"{shards} {small}")
    with spark_engine(shards, small) as engine:
        made: list[tuple[set[Fact], SparkFacts]] = []
        for _ in range(6):
            facts = some_facts(random)
            made.append((facts, engine.fact_set(facts)))
            (left, mine), (right, theirs) = random.choice(made[-5:]), random.choice(made)
            made += [(left | right, mine | theirs), (left - right, mine - theirs), (left & right, mine & theirs)]
        for expected, found in made:
            check(expected, found)


@pytest.mark.parametrize(("shards", "small"), KINDS)
def test_tallies(shards: int, small: int) -> None:
    random = Random(f"tally {shards} {small}")
    with spark_engine(shards, small) as engine:
        counts: Counter[Fact] = Counter()
        tally = engine.ones(engine.fact_set(()))
        for _ in range(20):
            facts, asked = some_facts(random), some_facts(random)
            more = random.random() < 0.6
            counts.update(dict.fromkeys(facts, 1 if more else -1))
            once = engine.ones(engine.fact_set(facts))
            tally = tally + once if more else tally - once
            check_counts({f: counts[f] for f in asked}, tally.counts_of(engine.fact_set(asked)))
        check_counts(counts, tally)


def check_counts(expected: dict[Fact, int], found: SparkTally) -> None:
    expected = {fact: count for fact, count in expected.items() if count}
    assert dict(found) == expected
    assert len(found) == len(expected)
    assert set(found.facts()) == {fact for fact, count in expected.items() if count > 0}


def test_rows_packed_tightly_before_the_dictionary_grew() -> None:
    with spark_engine(3, 0) as engine:
        old = {Fact("p4", row) for row in product(TERMS[:3], repeat=4)}
        before = engine.fact_set(old)
        engine.fact_set(Fact("many", (iri(f"u{i}"),)) for i in range(TIGHT))
        new = {Fact("p4", row) for row in product((*TERMS[:2], iri(f"u{TIGHT - 1}")), repeat=4)}
        after = engine.fact_set(new)
        for expected, found in ((new - old, after - before), (old & new, before & after), (old | new, before | after)):
            check(expected, found)
        (rule,) = parse_rules("q(?w, ?x, ?y, ?z) :- p4(?x, ?y, ?z, ?w), p4(?z, ?x, ?w, ?y) .")
        work, local = Work(), Work()
        derived = engine.derive([all_from(rule, before | after)], work)
        expected = set(engine.local.derive([all_from(rule, (before | after).to_local())], local))
        assert (set(derived), work.derivations) == (expected, local.derivations)


def test_pieces_that_others_wrote_stay_theirs(tmp_path: Path) -> None:
    facts = some_facts(Random(0))
    with spark_engine(3, 0) as engine:
        mine = engine.fact_set(facts)
        written = [None if path is None else _copied(path, tmp_path) for path in mine.shard_files()]
        theirs = engine.of_shard_files(written)
        check(facts, theirs)
        assert not theirs - mine
    assert len(list(tmp_path.iterdir())) == sum(w is not None for w in written)


def _copied(path: str, folder: Path) -> ShardFile:
    rows = list(shard_files.read(path).all_rows())
    assert all(stat(r).rows == len(r) for r in rows)
    return shard_files.write(folder, rows)


def test_a_small_set_has_pieces_too() -> None:
    facts = some_facts(Random(1))
    with spark_engine(2, 1_000) as engine:
        held = engine.fact_set(facts)
        rows = [r for path in held.shard_files() if path for r in shard_files.read(path).all_rows()]
        assert sum(map(len, rows)) == len(held) == len(facts)


def test_a_limit_met_by_a_task_is_told() -> None:
    with spark_engine(2, 0) as engine:
        (rule,) = parse_rules("#[cartesian] q(?x, ?y) :- p(?x), p(?y) .")
        facts = engine.fact_set(Fact("p", (iri(f"n{i}"),)) for i in range(3_000))
        _limit(engine)
        with pytest.raises(LimitError, match="memory budget"):
            engine.derive([all_from(rule, facts)], Work())
        assert len(facts) == 3_000


def _limit(engine: SparkEngine) -> None:
    engine.local.settings = Settings(memory_budget=1, threads=1)


def test_what_driver_and_job_both_derive_counts_once() -> None:
    """The first rule reads little and is run by the driver, the second in a job."""
    rules = tuple(parse_rules("h(?x) :- few(?x) . h(?x) :- many(?x) ."))
    names = [iri(f"n{i}") for i in range(50)]
    with spark_engine(3, 5) as engine:
        facts = {Fact("few", (names[0],)), *(Fact("many", (name,)) for name in names)}
        known, pivot = engine.fact_set([Fact("h", (names[1],))]), engine.fact_set(facts)
        right = known | pivot
        derived = engine.derive_pivoted(rules, known, pivot, right, known, Work())
        new = derived - right
        assert (len(derived), len(new)) == (50, 49)
        check({Fact("h", (name,)) for name in names if name != names[1]}, new)


@pytest.mark.parametrize("shards", SHARDS)
def test_what_only_negates_is_matched_once(shards: int) -> None:
    closed, free = parse_rules("closed(<u>) :- ~open(<u>, ?x) . free(<v>) :- ~open(<v>, ?x) .")
    with spark_engine(shards, 0) as engine:
        facts = engine.fact_set(Fact("open", (iri("u"), iri(f"n{i}"))) for i in range(20))
        work = Work()
        found = engine.tally([all_from(closed, facts), all_from(free, facts)], work)
        check_counts({Fact("free", (iri("v"),)): 1}, found)
        assert work.derivations == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("small", [0, 40, 10_000])
def test_windows_fit_together_on_shards(seed: int, small: int) -> None:
    expected = run(ReferenceEngine(), seed, [(0, None)])
    for shards in SHARDS:
        with spark_engine(shards, small) as engine:
            assert in_turns(engine, seed, Random(f"{seed} {small} {shards}")) == expected
