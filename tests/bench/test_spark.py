"""What was measured on Spark at different times comes together on one page, which says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.spark.measure import added, markdown
from tests.project.documents import ROOT

PAGE = ROOT / "docs" / "spark.json"


def published() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(PAGE.read_text())
    return result


def later(*sizes: str) -> dict[str, Any]:
    """The same sizes measured again at another commit, without the peer."""
    before = published()
    again = {name: {**before["sizes"][name], "commit": "abc1234"} for name in sizes}
    for size in again.values():
        size.pop("frames", None)
    return {**before, "machine": {**before["machine"], "commit": "abc1234"}, "sizes": again}


def test_other_sizes_stay() -> None:
    result = added(later("spark-10"), PAGE)
    assert list(result["sizes"]) == list(published()["sizes"])
    assert result["sizes"]["spark-10"]["commit"] == "abc1234"
    assert f"100 universities were measured at commit {published()['machine']['commit']} on" in markdown(result)


def test_the_peer_stays() -> None:
    result = added(later("spark-10", "spark-100"), PAGE)
    assert result["sizes"]["spark-100"]["frames"]["rounds"] == published()["sizes"]["spark-100"]["frames"]["rounds"]
    assert "The DataFrame loop with 100 universities ran at commit" in markdown(result)
    assert "stopped after 600 s" in markdown(result)


def test_without_an_earlier_run(tmp_path: Path) -> None:
    found = later("spark-10")
    assert added(found, tmp_path / "none.json") is found


def test_changes_and_rounds() -> None:
    result = later("spark-10")
    ran = {"seconds": 1.25, "algorithm": "dred+bf", "rounds": 7, "facts": 14_000}
    times = {"again": ran, "less": ran, "more": ran, "digest": ""}
    size = result["sizes"]["spark-10"]
    size |= {"changes": {"removed": 13_000, "spark": times, "local": times}, "rounds": {"seconds": [0.25] * 200}}
    page = markdown(result)
    assert "| 10 | 13,000 | 14,000 | dred+bf | 7 | 1.2 |" in page
    assert "takes 0.25 s, 0.25 s, 0.25 s, 0.25 s" in page
