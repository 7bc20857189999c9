"""Tables come from the JSON of a run, and only the part of the page between the markers changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.report import Result, markdown, publish

RUN: Result = {
    "machine": {
        "commit": "abc1234",
        "cpu": "a processor",
        "cores": 2,
        "memory_gb": 8.0,
        "system": "Linux",
        "python": "3.11.7",
        "numpy": "2.4.6",
        "load_average": 0.1,
    },
    "versions": {"tidelog": "0.1.0", "nemo": "0.10.1", "clingo": None},
    "workloads": {
        "lubm-1": {
            "title": "1 university",
            "disagreement": None,
            "engines": {
                "tidelog": {
                    "seconds": {"load": 0.3, "closure": 0.1},
                    "total": 0.4,
                    "facts": {"triple": 1_000_000},
                    "derivations": 2_000_000,
                    "peak_bytes": 2**27,
                    "memory": {"resident": 40_000_000},
                },
                "nemo": {
                    "seconds": {"run": 4.0},
                    "total": 4.0,
                    "facts": {"triple": 1_000_000},
                    "derivations": None,
                    "peak_bytes": 2**26,
                    "memory": {},
                },
                "clingo": {"skipped": "not installed"},
            },
        }
    },
}
EXPECTED = [
    "Commit abc1234 on a processor, 2 cores",
    "tidelog 0.1.0, nemo 0.10.1. Load",
    "| lubm-1 | tidelog | 0.30 | 0.10 | 0.40 | 1.0 × | 1,000,000 | 20.0 M | 128 |",
    "| lubm-1 | nemo |  |  | 4.00 | 10.0 × | 1,000,000 |  | 64 |",
    "| lubm-1 | clingo |  |  | not installed |  |  |  |  |",
    "- lubm-1: tidelog is 10.0 times as fast as Nemo; closure from loaded facts: 40.0 times.",
    "- lubm-1: bytes per fact of the open knowledge base: resident 40.0.",
]


@pytest.mark.parametrize("text", EXPECTED)
def test_table(text: str) -> None:
    assert text in markdown(RUN)


def test_publish_twice_changes_the_blocks_only(tmp_path: Path) -> None:
    source, page, readme = tmp_path / "full.json", tmp_path / "docs" / "benchmarks.md", tmp_path / "README.md"
    source.write_text(json.dumps(RUN))
    page.parent.mkdir()
    for each in (page, readme):
        each.write_text("before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n")
    publish(source, page.parent)
    first = [page.read_text(), readme.read_text()]
    publish(source, page.parent)
    assert [page.read_text(), readme.read_text()] == first
    for text in first:
        assert text.startswith("before\n<!-- bench:begin -->\n")
        assert text.endswith("<!-- bench:end -->\nafter\n")
        assert "old" not in text
        assert "10.0 times as fast as Nemo" in text
    assert sorted(file.name for file in page.parent.iterdir()) == ["benchmarks.json", "benchmarks.md", "benchmarks.png"]


def test_page_without_markers(tmp_path: Path) -> None:
    (tmp_path / "full.json").write_text(json.dumps(RUN))
    (tmp_path / "benchmarks.md").write_text("no markers")
    with pytest.raises(SystemExit, match="needs a line <!-- bench:begin -->"):
        publish(tmp_path / "full.json", tmp_path)
