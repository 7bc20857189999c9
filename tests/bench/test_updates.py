"""DynamiTE's updates at a tiny size, and the page that is made of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import chosen_sizes
from bench.case import Case
from bench.measure import Limits
from bench.updates import paper
from bench.updates.changes import Update, beforehand, last_universities, updates
from bench.updates.measure import ALGORITHMS, NAME, SIZES, measure, opened
from bench.updates.report import markdown, publish
from bench.workloads import university
from tests.bench.test_report import RUN
from tidelog.generate import lubm

Result = dict[str, Any]
PAPER = Path(__file__).parents[3] / "shared" / "papers" / "dynamite-dynamic-rdf.txt"
SMALL = Limits(seconds=60, bytes=2**40, repeat_seconds=1e-9)


@pytest.fixture(scope="module")
def two_departments(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """The first department of each of two universities."""
    case = university(2)(tmp_path_factory.mktemp("universities"))
    lines = case.data_path.read_text().splitlines(keepends=True)
    kept = [line for line in lines if re.match(r"<http://www\.(Department0\.)?University[01]\.edu", line)]
    case.data_path.write_text("".join(kept))
    return case


@pytest.fixture(scope="module")
def found(two_departments: Case) -> list[Update]:
    return updates(two_departments.data_path, 2, names=30, addresses=20)


@pytest.fixture(scope="module")
def result(two_departments: Case, found: list[Update]) -> Result:
    said: list[str] = []
    measured = measure(opened(two_departments, found), found, SMALL, said.append)
    assert any("update 6" in line for line in said)
    return measured


def test_the_last_universities_are_those_of_the_generator(tmp_path: Path) -> None:
    both, one = tmp_path / "two.nt", tmp_path / "one.nt"
    lubm.write(2, both)
    lubm.write(1, one)
    last = last_universities(both, 2, 1)
    assert len(last) == len(both.read_text().splitlines()) - len(one.read_text().splitlines())
    assert all("University1.edu" in fact.args[0] for fact in last)
    assert last_universities(both, 2, 2) == last, "one university stays"


def test_every_update_of_the_paper_is_there(found: list[Update]) -> None:
    assert {update.number for update in found} == set(paper.TIMES)
    assert [len(update.facts) for update in found[:5]] == [1, 30, 20, 1, 2]
    assert len(beforehand(found)) == 51


def test_what_changes(result: Result) -> None:
    changed = {(row["update"], row["triples"]): row["changed"] for row in result["updates"]}
    assert changed["1", 1] == 1
    assert changed["2", 30] == 30
    assert changed["3", 20] == 40, "each address also entails a person"
    # Two heads of departments no longer work for them, but they are members in other ways too.
    assert changed["4", 1] > 1
    # Two axioms, their composition, and both properties for each head.
    assert changed["4", 2] == 3 + 2 * 2
    (removed,) = (row for row in result["updates"] if row["update"] == "5")
    assert removed["changed"] > removed["triples"]


def test_every_algorithm_but_counting_gives_every_result(result: Result) -> None:
    for row in result["updates"]:
        assert set(row["algorithms"]) == set(ALGORITHMS)
        for name, run in row["algorithms"].items():
            if name == "counting":
                assert run == {"skipped": "counting cannot maintain recursive rules"}
            else:
                assert run["add"]["seconds"] > 0
                assert run["remove"]["seconds"] > 0


def test_update_without_facts_is_left_out(two_departments: Case, found: list[Update]) -> None:
    none = [Update("5", "no university", ())]
    assert measure(opened(two_departments, found), none, SMALL, print)["updates"] == []


def ran(add: float, remove: float, **counters: int) -> Result:
    numbers = {"derivations": 5_000, "rounds": 3, "counters": counters}
    return {"add": {"seconds": add, **numbers}, "remove": {"seconds": remove, **numbers}}


def row(update: str, triples: int, **others: Result) -> Result:
    algorithms = {
        "bf": ran(0.01, 0.02, C=7, Bwd=8, Sat=9, Del=10),
        "dred": ran(0.03, 2.5, D=1, DR2=2, DR4=3, DR5=4),
        "counting": {"skipped": "recursive rules"},
        "recursive-counting": ran(0.05, 0.06),
        **others,
    }
    return {"update": update, "title": f"title {update}", "triples": triples, "changed": 1234, "algorithms": algorithms}


SIZE: Result = {
    "title": "10 universities",
    "explicit": 1_000,
    "facts": 2_000,
    "closure": {"seconds": 0.5, "derivations": 5_000},
    "counting": {"recursive-counting": 4.0},
    "updates": [
        row("1", 1),
        row("4", 1),
        row("4", 2),
        row("6", 200, dred={"skipped": "more than 60 s"}),
        {"update": "5", "title": "one university", "triples": 9, "failed": "no algorithm came to an end"},
    ],
}
PAGE: Result = {
    **{key: RUN[key] for key in ("machine", "versions")},
    "limits": {"seconds": 60.0},
    "sizes": {"updates-10": SIZE, "updates-100": {"title": "100 universities", "failed": "out of memory"}},
}
LINES = [
    "Time limit of one change: 60 s.",
    "The paper's times are on LUBM-1,000 (138 million triples, materialised in about 15 minutes), with two quad-core",
    "### updates-10: 10 universities",
    "1,000 explicit facts, 2,000 facts in all; first materialisation in 0.5000 s with 5.0k derivations.",
    "- recursive-counting first computed its counts, in 4.00 s; its times below do not include this.",
    "- counting gave no result: recursive rules.",
    "- dred gave no result for update 6 (title 6): more than 60 s.",
    "- Update 5 (one university): no algorithm came to an end.",
    "| update | what | triples | facts changed | bf | dred | recursive-counting | paper's DRed | paper's counting |",
    "| 1 | title 1 | 1 | 1,234 | 0.0200 | 2.50 | 0.0600 | 2902.7 | 0.117 |",
    "| 4 | title 4 | 1 | 1,234 | 0.0200 | 2.50 | 0.0600 | 2132.2 | 51 |",
    "| 4 | title 4 | 2 | 1,234 | 0.0200 | 2.50 | 0.0600 | — | — |",
    "| 6 | title 6 | 200 | 1,234 | 0.0200 | — | 0.0600 | 3830.2 | 135.8 |",
    "| 4 | title 4 | 1 | 1,234 | 0.0100 | 0.0300 | 0.0500 | — |",
    "| 4 | title 4 | 2 | 1,234 | 0.0100 | 0.0300 | 0.0500 | 31.8 |",
    "| 1 | title 1 | 5.0k | 7 | 8 | 9 | 10 | 5.0k | 1 | 2 | 3 | 4 | 5.0k |",
    "No result: out of memory",
]


@pytest.mark.parametrize("line", LINES)
def test_the_page(line: str) -> None:
    assert line in markdown(PAGE)


def test_an_algorithm_without_any_result_has_no_column() -> None:
    assert "| counting |" not in markdown(PAGE)


def test_publishing(tmp_path: Path) -> None:
    (tmp_path / "updates.md").write_text("before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n")
    source = tmp_path / "result.json"
    source.write_text(json.dumps(PAGE))
    publish(source, tmp_path)
    page = (tmp_path / "updates.md").read_text()
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "old" not in page
    assert json.loads((tmp_path / "updates.json").read_text()) == PAGE


def test_sizes_are_chosen_by_name() -> None:
    def names(*asked: str, quick: bool = False) -> list[str]:
        return [size.name for size in chosen_sizes(asked, quick, NAME, SIZES)]

    assert names() == names("updates") == ["updates-10", "updates-100"]
    assert names("updates", quick=True) == ["updates-1"]
    assert names("updates-100") == ["updates-100"]
    assert names("table2-10") == []


@pytest.mark.skipif(not PAPER.exists(), reason="the paper's text is not there")
def test_the_published_times_are_the_papers() -> None:
    text = PAPER.read_text(encoding="utf-8")
    for number, times in paper.TIMES.items():
        assert f"Update {number} " + " ".join(str(t) for t in times) in text
