"""Maintenance at a tiny size: every algorithm is measured, who fails is dropped, different results are noticed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bench.__main__ import chosen_sizes
from bench.case import Case
from bench.maintenance import cliques, table2
from bench.maintenance.contest import BASELINE, OUT, Contest, DisagreementError, agree
from bench.maintenance.group import Size, run
from bench.maintenance.subject import Subject
from bench.measure import Limits, MeasurementError
from bench.workloads import clique
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.errors import LimitError
from tidelog.model.terms import Fact

LIMITS = Limits(seconds=60, bytes=2**40, repeat_seconds=1e-9)
PROGRAM = """
{edges}
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
first(?x) :- edge(?x, b1) .
#[name("constraint")] :- path(?x, nowhere) .
"""
EDGES = "".join(f"edge(a{i}, a{i + 1}) . edge(a{i}, b{i}) . edge(b{i}, a{i + 1}) .\n" for i in range(12))


def silent(text: str) -> None:
    """Nobody reads it."""


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    """A ladder of 36 edges."""
    folder = tmp_path_factory.mktemp("ladder")
    (folder / "ladder.rls").write_text(PROGRAM.format(edges=EDGES))
    return Subject.of(Case("ladder", str(folder), "ladder.rls", ("path",)))


def facts(subject: Subject, predicate: str, sizes: list[int], seed: int) -> list[set[Fact]]:
    return [set(sample) for sample in subject.samples(predicate, sizes, seed)]


def test_samples_are_nested_random_and_explicit(subject: Subject) -> None:
    one, two = facts(subject, "edge", [5, 20], 1)
    assert (len(one), len(two)) == (5, 20)
    assert one < two < set(subject.start.E)
    assert facts(subject, "edge", [5], 1) == [one]
    assert facts(subject, "edge", [5], 2) != [one]


def test_removals(subject: Subject) -> None:
    rows = table2.removals(subject, "edge", [2, 10], LIMITS, silent)
    assert [row["removed"] for row in rows] == [2, 10]
    for row in rows:
        assert set(row["algorithms"]) == set(ALGORITHMS)
        skipped = {name: run["skipped"] for name, run in row["algorithms"].items() if "skipped" in run}
        assert set(skipped) == {"counting"}
        assert row["lost"] > row["removed"]
        assert row["algorithms"]["bf"]["counters"]["C"] > 0
        assert row["algorithms"]["dred"]["counters"]["DR2"] > 0
    assert rows[0]["algorithms"]["counting"]["skipped"] == "counting cannot maintain recursive rules"
    assert rows[1]["algorithms"]["counting"]["skipped"] == OUT


def test_single_facts_leave_the_knowledge_base_as_it_was(subject: Subject) -> None:
    found = table2.singles(subject, "edge", 3, LIMITS, silent)
    assert set(found) == set(ALGORITHMS) - {BASELINE}
    assert found["bf"]["changes"] == 3
    assert 0 < found["bf"]["remove"]["p50"] <= found["bf"]["remove"]["p99"]
    assert "skipped" in found["counting"]
    assert subject.kb.version == 1


def test_single_facts_end_with_their_time(subject: Subject) -> None:
    facts = list(subject.samples("edge", [20], 1)[0])
    assert len(list(subject.single_changes("bf", [facts[0], facts[1]], seconds=60))) == 2
    assert list(subject.single_changes("bf", facts, seconds=0)) == []


def test_only_minor_rules_are_removed(subject: Subject) -> None:
    ((support, rule),) = table2.choose_rules(subject)
    assert (support, str(rule)) == (1, "first(?x) :- edge(?x, b1) .")
    (row,) = table2.minor_rules(subject, LIMITS, silent)
    assert row["lost"] == row["support"] == support
    assert "seconds" in row["algorithms"]["bf"]["back"]


def test_cliques(tmp_path: Path) -> None:
    def opened(constants: int) -> Subject:
        return Subject.of(clique(constants)(tmp_path / str(constants)))

    rows = cliques.measure([5, 8], opened, LIMITS, silent)["cliques"]
    assert [(r["constants"], r["scenario"], r["facts"], r["lost"]) for r in rows] == [
        (5, "surviving", 25, 0),
        (5, "shrinking", 25, 25 - 16),
        (8, "surviving", 64, 0),
        (8, "shrinking", 64, 64 - 49),
    ]
    assert all("seconds" in run for row in rows for run in row["algorithms"].values())


def test_who_fails_is_not_asked_again(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def failing(*arguments: object) -> None:
        asked.append("failing")
        raise LimitError("this needs more than there is. Do something else.")

    algorithms: dict[str, object] = {"bf": ALGORITHMS["bf"], "failing": failing}
    monkeypatch.setattr("bench.maintenance.subject.ALGORITHMS", algorithms)
    contest = Contest(["bf", "failing"], LIMITS, silent)
    step = subject.removal(subject.samples("edge", [1], 1)[0])
    reasons = [contest.run(subject, step)[1]["failing"]["skipped"] for _ in range(2)]
    assert reasons == ["this needs more than there is", OUT]
    assert asked == ["failing"]


def test_a_change_is_stopped_at_its_limit(subject: Subject) -> None:
    with pytest.raises(MeasurementError, match="more than 0 s"), subject.limited(0.01):
        time.sleep(60)
    assert len(subject.change(BASELINE, subject.start, subject.removal(subject.nothing)).outcome.removed) == 0


def test_no_result_at_all(subject: Subject) -> None:
    with pytest.raises(MeasurementError, match="no algorithm came to an end"):
        Contest(["counting"], LIMITS, silent).run(subject, subject.removal(subject.nothing))


def test_different_results_are_noticed(subject: Subject) -> None:
    one, two = subject.samples("edge", [1, 2], 1)
    less, more = (subject.change("bf", subject.start, subject.removal(facts)) for facts in (one, two))
    agree("bf", less, "dred", subject.change("dred", subject.start, subject.removal(one)))
    with pytest.raises(DisagreementError, match="dred and bf disagree on what is removed"):
        agree("bf", less, "dred", more)


def test_a_rule_comes_back(subject: Subject) -> None:
    step = subject.without(subject.kb.rules[0])
    there = subject.change("bf", subject.start, step)
    back = subject.change("bf", there.state, step.back)
    assert len(there.outcome.removed) > 0
    assert set(back.state.I) == set(subject.start.I)


@pytest.mark.parametrize(
    ("names", "quick", "chosen"),
    [
        ([], True, ["table2-1", "cliques-quick"]),
        (["maintenance"], True, ["table2-1", "cliques-quick"]),
        (["maintenance"], False, ["table2-10", "table2-100", "cliques"]),
        ([], False, ["table2-10", "table2-100", "cliques"]),
        (["table2-1"], False, ["table2-1"]),
        (["lubm-1"], False, []),
    ],
)
def test_chosen_sizes(names: list[str], quick: bool, chosen: list[str]) -> None:
    assert [size.name for size in chosen_sizes(names, quick)] == chosen


def test_a_size_that_fails_says_why(tmp_path: Path) -> None:
    unknown = Size("no-such-size", "", lambda data, limits, say: {})
    result = run([unknown], tmp_path, LIMITS)
    assert result["sizes"]["no-such-size"]["failed"] == "KeyError: 'no-such-size'"
