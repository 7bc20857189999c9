"""The requirements files pin exact versions with hashes, name no index, and cover what pyproject.toml declares."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.project.documents import ROOT

LOCKS = sorted(ROOT.glob("requirements*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pinned(lock: Path) -> dict[str, str]:
    """Package -> version, of entries that also have a hash."""
    entries = re.findall(r"^([\w.-]+)==(\S+) \\\n    --hash=sha256:[0-9a-f]{64}", lock.read_text(), re.MULTILINE)
    return dict(entries)


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=~!;\s\[]", each, maxsplit=1)[0].lower() for each in requirements}


def test_the_locks_are_there() -> None:
    kinds = ("-dev", "-java", "-lean", "")
    assert [lock.name for lock in LOCKS] == [f"requirements{kind}.txt" for kind in kinds]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_entry_is_pinned_and_hashed(lock: Path) -> None:
    lines = [line for line in lock.read_text().splitlines() if line and not line.startswith((" ", "#"))]
    assert len(lines) == len(pinned(lock)) > 0


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_no_address_in_a_lock(lock: Path) -> None:
    assert re.findall(r"(?i)\w+://|--(?:extra-)?index|--find-links|--trusted", lock.read_text()) == []


def test_what_is_declared_is_locked() -> None:
    run_time, everything = pinned(ROOT / "requirements.txt"), pinned(ROOT / "requirements-dev.txt")
    assert names(PROJECT["dependencies"]) <= set(run_time)
    assert names(PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]) <= set(everything)
    assert run_time.items() <= everything.items()


def test_the_lean_lock_is_all_but_spark() -> None:
    """The same pins and hashes as the run-time lock, without pyspark and what only pyspark needs."""
    lean, run_time = ROOT / "requirements-lean.txt", ROOT / "requirements.txt"
    assert pinned(lean).items() < pinned(run_time).items()
    assert names(PROJECT["dependencies"]) - set(pinned(lean)) == {"pyspark", "pandas"}
    hashes = [set(re.findall("sha256:[0-9a-f]{64}", lock.read_text())) for lock in (lean, run_time)]
    assert hashes[0] < hashes[1]
