"""On random histories of facts and rules, the changes that a watch gives add up to the answers of every version."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

import tidelog
from tests.algorithms.equality import histories as equality
from tests.oracle.histories import RandomHistory, random_history
from tests.streams.watched import SPARQL, Sum, answers, random_queries
from tidelog.model.terms import Fact
from tidelog.rules.syntax import Rule

HISTORIES, LONG = 40, 3_000
CHUNK = 5

# (add, remove, add_rules, remove_rules)
Steps = list[tuple[list[Fact], list[Fact], list[Rule], list[Rule]]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seeds" in metafunc.fixturenames:
        count = LONG if metafunc.config.getoption("long") else HISTORIES
        chunks = [range(start, start + CHUNK) for start in range(0, count, CHUNK)]
        metafunc.parametrize("seeds", chunks, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")


def steps_of(history: RandomHistory) -> Steps:
    start = history.states[0]
    steps: Steps = [(list(start.facts), [], list(start.rules), [])]
    return steps + [(list(s.add), list(s.remove), list(s.add_rules), list(s.remove_rules)) for s in history.steps]


def test_a_watch_follows_every_change(seeds: range) -> None:
    for seed in seeds:
        history, random = random_history(seed), Random(f"watch {seed}")
        with tidelog.open() as kb:
            queries = [*random_queries(random, history.program, history.states[0].rules), *random.sample(SPARQL, 5)]
            sums = [Sum(kb.watch(query)) for query in dict.fromkeys(queries)]
            play(kb, steps_of(history), sums, f"random_history({seed})")


def test_a_watch_follows_equality_by_rewriting(seeds: range) -> None:
    for seed in seeds[:2]:
        states = equality.random_history(seed).states
        steps: Steps = [
            (
                list(new.facts - old.facts),
                list(old.facts - new.facts),
                [r for r in new.rules if r not in old.rules],
                [r for r in old.rules if r not in new.rules],
            )
            for old, new in pairwise(states)
        ]
        queries = (
            *("r(?x, ?y)", "[?x, <p>, ?y], s(?y)", "[?x, owl:sameAs, ?y]", "n(?x, ?k), ?k < 2", "s(?x), ~t(?x, _)"),
            *("[?x, <p>, _]", "r(a, ?y)", "SELECT ?x { ?x <p> ?y }"),
        )
        with tidelog.open(equality="rewriting") as kb:
            sums = [Sum(kb.watch(query)) for query in queries]
            play(kb, steps, sums, f"equality history {seed}")


def play(kb: tidelog.KnowledgeBase, steps: Steps, sums: list[Sum], where: str) -> None:
    for number, (add, remove, add_rules, remove_rules) in enumerate(steps):
        kb.apply(add, remove, add_rules, remove_rules)
        for each in sums:
            each.take()
            each.check(answers(kb, each.watch.query), f"{where}, step {number}")


def test_a_reader_that_resumes_gets_every_change_once(seeds: range, tmp_path: Path) -> None:
    """A reader in another process, as far as the store can tell: it reads now and then, and is closed in between."""
    for seed in seeds[:1]:
        history, random = random_history(seed), Random(f"reader {seed}")
        path = tmp_path / f"{seed}.kb"
        queries = [*random_queries(random, history.program, history.states[0].rules), "SELECT * { ?x ?p ?y }"][:8]
        sums: dict[str, Sum] = {}
        last = dict.fromkeys(queries, 0)
        with tidelog.open(path) as writer:
            for add, remove, add_rules, remove_rules in steps_of(history):
                writer.apply(add, remove, add_rules, remove_rules)
                if random.random() < 0.2:
                    writer.compact()
                if random.random() < 0.5:
                    continue
                with tidelog.open(path, read_only=True) as reader:
                    for query in queries:
                        watch = reader.watch(query, since=last[query])
                        each = sums.setdefault(query, Sum(watch))
                        each.watch = watch
                        each.take()
                        last[query] = reader.version
                        each.check(answers(reader, query), f"random_history({seed}), version {reader.version}")


def test_a_reader_that_stays_open_follows_the_writer(seeds: range, tmp_path: Path) -> None:
    for seed in seeds[:1]:
        history, random = random_history(seed), Random(f"follower {seed}")
        path = tmp_path / f"{seed}.kb"
        with tidelog.open(path) as writer, tidelog.open(path, read_only=True) as reader:
            queries = list(random_queries(random, history.program, history.states[0].rules))[:8]
            sums = [Sum(reader.watch(query)) for query in queries]
            for add, remove, add_rules, remove_rules in steps_of(history):
                writer.apply(add, remove, add_rules, remove_rules)
                if random.random() < 0.2:
                    writer.compact()
                if random.random() < 0.5:
                    for each in sums:
                        each.take()
                        each.check(answers(reader, each.watch.query), f"random_history({seed})")
