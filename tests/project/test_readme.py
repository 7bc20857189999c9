"""What README.md and the pages in docs/ show runs, and prints what they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project.documents import ROOT, Step, blocks, needs_spark, run_session, run_step, shows, steps
from tidelog.rules.expressions import FUNCTIONS

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH_PYTHON = [page for page in PAGES if blocks(page, "python") and not needs_spark(page)]
WITH_CONSOLE = [page for page in PAGES if blocks(page, "console")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place to run in that sees the demo files but not the checkout, which stays clean."""
    (tmp_path / "demo").symlink_to(ROOT / "demo")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_python_blocks_run(page: Path, folder: Path) -> None:
    result = run_session(page)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", WITH_CONSOLE, ids=lambda page: page.name)
def test_console_blocks_run(page: Path, folder: Path) -> None:
    if page.name == "README.md":
        run_session(page)  # its first block writes the program that the commands use
    for block in blocks(page, "console"):
        for step in steps(block):
            printed = run_step(step, folder)
            assert shows(step, printed), f"$ {step.command}\n{printed}"


def test_readme_has_both_kinds_of_block() -> None:
    assert ROOT / "README.md" in WITH_PYTHON
    assert ROOT / "README.md" in WITH_CONSOLE


def test_the_first_session_is_short() -> None:
    assert len(blocks(ROOT / "README.md", "python")[0].splitlines()) <= 12


def test_a_wrong_output_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n```\n")
    assert run_session(page).failed == 1
    for shown, right in (("b\n", False), ("a\n", True), ("...b\n", False), ("...\n", True)):
        step = Step("echo a", shown)
        assert shows(step, run_step(step, tmp_path)) == right


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_make_targets_exist(name: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", (ROOT / name).read_text(), re.MULTILINE))
    assert named
    assert named <= targets


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name
)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_function_is_documented() -> None:
    named = set(re.findall(r"`([A-Z]+)`", (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")))
    assert named == set(FUNCTIONS)
