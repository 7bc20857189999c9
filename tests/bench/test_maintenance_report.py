"""Sentences, tables and plots come from the JSON of a maintenance run, and equilibria from its times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.maintenance import paper
from bench.maintenance.contest import OUT
from bench.maintenance.equilibrium import Equilibrium, Point, equilibrium
from bench.maintenance.plot import panels
from bench.maintenance.report import markdown, publish
from bench.maintenance.table2 import percentile
from bench.maintenance.tables import ratio, rule_text, short
from tests.bench.test_report import RUN

Result = dict[str, Any]


def ran(seconds: float, back: float, derivations: int, **counters: int) -> Result:
    numbers = {"derivations": derivations, "rounds": 3, "counters": counters}
    return {"seconds": seconds, **numbers, "back": {"seconds": back, **numbers}}


def removal(removed: int, bf: float, **others: Result) -> Result:
    algorithms = {
        "rematerialise": ran(1.0, 1.0, 2_000_000),
        "bf": ran(bf, bf / 2, 34_000, C=23_000, Bwd=9_300, Sat=13_700, Del=14_800),
        "dred": ran(2.0, 0.5, 150_000, D=55_500, DR2=67_200, DR4=46_900, DR5=59_800),
        "counting": {"skipped": OUT},
        **others,
    }
    return {"removed": removed, "lost": removed + 500, "algorithms": algorithms}


RULE = '[?x, <http://a.org/b#type>, "a|b"] :- p(?x) .'
REFUSED = {"skipped": "counting cannot maintain recursive rules"}
PERCENTILES = {"p50": 0.001, "p99": 0.0123}
SIZE: Result = {
    "title": "1 university",
    "explicit": 1_000_000,
    "facts": 1_400_000,
    "closure": {"seconds": 0.9, "derivations": 2_000_000},
    "removals": [removal(5_000, 0.1, counting=REFUSED), removal(50_000, 10.0)],
    "single": {"bf": {"changes": 200, "remove": PERCENTILES, "add": PERCENTILES}, "counting": REFUSED},
    "rules": [{"rule": RULE, "support": 70, "lost": 60, "algorithms": removal(1, 0.2)["algorithms"]}],
    "counting": {"recursive-counting": 4.0},
}
CLIQUE: Result = {
    "constants": 100,
    "scenario": "shrinking",
    "facts": 10_000,
    "lost": 199,
    "algorithms": {"rematerialise": ran(1.0, 1.0, 10), "bf": {"skipped": "more than 20 s"}},
}
RESULT: Result = {
    **RUN,
    "limits": {"seconds": 20},
    "sizes": {
        "table2-1": SIZE,
        "cliques": {"title": "cliques", "cliques": [CLIQUE]},
        "table2-9": {"title": "9 universities", "failed": "ended by signal 9"},
    },
}
EXPECTED = [
    "Time limit of one change: 20 s.",
    "1,000,000 explicit facts, 1,400,000 facts in all; first materialisation in 0.9000 s with 2.0M derivations.",
    "- Removing 5,000 facts by bf takes 1/10.0 of the time of rematerialising.",
    "- bf takes as long as rematerialising at 15,811 removed facts, 1.58% of the explicit ones.",
    "- dred takes as long as rematerialising below 5,000 removed facts, 0.50% of the explicit ones.",
    "- Adding by bf takes at most 1/2.0 of the time of removing.",
    "- Removing a rule by bf takes at most 1/5.0 of the time of rematerialising.",
    "- recursive-counting first computed its counts, in 4.00 s; its times below do not include this.",
    "- counting gave no result for this and larger changes: facts removed 5,000, facts lost 5,500. Counting",
    "| 5,000 | 5,500 | 1.00 | 2.0M | 2.00 | 55.5k | 67.2k | 46.9k | 59.8k | 0.1000 | 23.0k | 9.3k | 13.7k | 14.8k |",
    "| 5,000 (0.5%) | 5.0k (0.0%) | 11.1 : 11.1 (1.0 ×) |",
    "| 3.0 : 1.5 (2.0 ×) |",
    "| 50,000 (5.0%) | 7.5M (5.6%) |",
    "| 5,000 | 5,500 | 1.00 | 0.1000 (1/10.0) | 2.00 (2.0 ×) |",
    "| 5,000 | 5,500 | 2.0M | 34.0k | 150.0k |",
    "| 5,000 | 5,500 | 1.00 (1.0 ×) | 0.0500 (1/2.0) | 0.5000 (1/4.0) |",
    "| bf | 200 | 1.0 | 12.3 | 1.0 | 12.3 |",
    '| `[?x, type, "a\\|b"] :- p(?x) .` | 70 | 60 | 1.00 | 0.2000 (1/5.0) |',
    "- bf gave no result for this and larger changes: constants 100, clique shrinking. More than 20 s.",
    "| 100 | shrinking | 10,000 | 199 | 1.00 |",
    "No result: ended by signal 9",
]


@pytest.mark.parametrize("text", EXPECTED)
def test_report(text: str) -> None:
    assert text in markdown(RESULT)


def test_every_table_has_as_many_cells_as_its_head() -> None:
    unescaped = markdown(RESULT).replace("\\|", "")
    for block in unescaped.split("\n\n"):
        widths = {line.count("|") for line in block.splitlines() if line.startswith("|")}
        assert len(widths) <= 1, block


def test_publish_changes_the_block_only(tmp_path: Path) -> None:
    source, page = tmp_path / "run.json", tmp_path / "docs" / "maintenance.md"
    source.write_text(json.dumps(RESULT))
    page.parent.mkdir()
    page.write_text("before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n")
    publish(source, page.parent)
    text = page.read_text()
    assert text.startswith("before\n<!-- bench:begin -->\n") and text.endswith("<!-- bench:end -->\nafter\n")
    assert "old" not in text and "![seconds by algorithm](maintenance.png)" in text
    assert sorted(file.name for file in page.parent.iterdir()) == [
        f"maintenance.{end}" for end in ("json", "md", "png")
    ]


def test_curves_leave_out_what_gave_no_result() -> None:
    curves = {panel.title: dict(panel.curves()) for panel in panels(RESULT)}
    assert curves == {
        "table2-1": {
            "rematerialise": [(5_000, 1.0), (50_000, 1.0)],
            "bf": [(5_000, 0.1), (50_000, 10.0)],
            "dred": [(5_000, 2.0), (50_000, 2.0)],
        },
        "cliques, shrinking": {"rematerialise": [(100, 1.0)]},
    }


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([], None),
        ([(10, 0.5)], Equilibrium(10, "above")),
        ([(10, 1.5), (20, 0.5)], Equilibrium(10, "below")),
        ([(10, 0.5), (1000, 2.0)], Equilibrium(100)),
        ([(10, 0.1), (100, 0.25), (400, 4.0), (500, 0.5), (600, 2.0)], Equilibrium(200)),
        ([(10, 0.5), (20, 1.0)], Equilibrium(20)),
    ],
)
def test_equilibrium(points: list[Point], expected: Equilibrium | None) -> None:
    found = equilibrium(points)
    if found is None or expected is None:
        assert found is expected
    else:
        assert found.removed == pytest.approx(expected.removed)
        assert found.bound == expected.bound


@pytest.mark.parametrize(
    ("removed", "explicit", "row"),
    [
        (100, 10_000, 100),
        (5_000, 100_000, 5_000),
        (1_000, 100_000, 2_500_000),
        (3_000, 100_000, 5_000_000),
        (7_500, 100_000, 10_000_000),
    ],
)
def test_row_of_the_paper(removed: int, explicit: int, row: int) -> None:
    assert paper.nearest_row(removed, explicit) == row


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([3.0, 1.0, 2.0], 50, 2.0), ([3.0, 1.0, 2.0], 99, 3.0), ([5.0], 50, 5.0), (list(range(1, 201)), 99, 198)],
)
def test_percentile(values: list[float], percent: float, expected: float) -> None:
    assert percentile(values, percent) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (short(999), "999"),
        (short(23_000), "23.0k"),
        (short(2.1e9), "2.1G"),
        (ratio(1, 50), "1/50.0"),
        (ratio(3, 1), "3.0 ×"),
        (ratio(9, 10), "0.9 ×"),
        (rule_text("p(<http://a/b#c>, <d>) :- q(?x) ."), "`p(c, <d>) :- q(?x) .`"),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert text == expected
