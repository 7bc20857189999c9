"""Code blocks of Markdown files, run as they stand."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(path: Path, language: str) -> list[str]:
    """The code blocks of one language, in order."""
    return [text for kind, text in _BLOCK.findall(path.read_text(encoding="utf-8")) if kind == language]


def needs_spark(path: Path) -> bool:
    """Whether the Python blocks of a page use a Spark session. `tests/engines/spark` runs those pages."""
    return any("SparkSession" in block for block in blocks(path, "python"))


@dataclass(frozen=True)
class Step:
    """A shell command and what the page says it prints."""

    command: str
    shown: str


def steps(block: str) -> list[Step]:
    """A console block: lines after `$` are commands, the others what they print."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert not parts[0], "a console block starts with a command"
    return [Step(*part.split("\n", 1)) for part in parts[1:]]


def run_step(step: Step, folder: Path) -> str:
    """What the command prints; `tidelog` is the one under test."""
    words = shlex.split(step.command)
    if words[0] == "tidelog":
        words = [sys.executable, "-m", "tidelog.cli", *words[1:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


def shows(step: Step, printed: str) -> bool:
    """Whether this was printed; `...` on the page stands for anything, as in doctest."""
    return doctest.OutputChecker().check_output(step.shown, printed, doctest.ELLIPSIS)


def run_session(path: Path) -> doctest.TestResults:
    """All Python blocks of a page as one session, from top to bottom."""
    session = doctest.DocTestParser().get_doctest("\n".join(blocks(path, "python")), {}, path.name, str(path), 0)
    return doctest.DocTestRunner(optionflags=_FLAGS).run(session)
