"""The benchmark at a small size: both ways show the same, and the page is written between its markers."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import equality
from bench.report import BEGIN, END


def test_both_ways_agree_and_the_page_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(equality.SIZES, True, 400)
    monkeypatch.setattr(equality, "REPEATS", 1)
    result = equality.run(quick=True)
    rewriting, axioms = result["data"]["keyed"].values()
    assert rewriting["stored"] < 1000 < axioms["stored"] == rewriting["seen"]
    page = tmp_path / "equality.md"
    page.write_text(f"before\n{BEGIN}\n{END}\nafter\n")
    equality.write(result, tmp_path, "equality-full")
    equality.publish(tmp_path / "equality-full.json", tmp_path)
    text = page.read_text()
    assert f"| keyed | axioms | {axioms['stored']:,} |" in text
    assert text.startswith("before") and text.endswith("after\n")


def test_a_disagreement_ends_the_run() -> None:
    with pytest.raises(SystemExit, match="disagree"):
        equality._check("keyed", {"rewriting": {"seen": 1, "removals": {}}, "off": {"seen": 2, "removals": {}}})
