"""The README runs from the wheel alone, in an empty folder."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.project.documents import ROOT, blocks, shows, steps

DOCTEST = """
import doctest, sys, tidelog
assert tidelog.__file__.startswith(sys.argv[1]), tidelog.__file__
examples = doctest.DocTestParser().get_doctest(sys.stdin.read(), {}, "README.md", "README.md", 0)
flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
sys.exit(doctest.DocTestRunner(optionflags=flags).run(examples).failed)
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with what the wheel installs."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    return tmp_path / "site"


def test_the_readme_runs_from_the_wheel(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(site)}
    readme = ROOT / "README.md"
    done = subprocess.run(
        [sys.executable, "-c", DOCTEST, str(site)],
        input="\n".join(blocks(readme, "python")), cwd=folder, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for step in (step for block in blocks(readme, "console") for step in steps(block)):
        command = [sys.executable, "-m", "tidelog.cli", *_words(step.command)]
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert shows(step, ran.stdout), f"$ {step.command}\n{ran.stdout}{ran.stderr}"


def _words(command: str) -> list[str]:

    program, *words = shlex.split(command)
    assert program == "tidelog", "the commands of the README are those of the wheel"
    return words
