"""Sessions: a text file with the files it needs, then commands and what they print.

    family.rls:
        parent(ann, bob) .

    $ tidelog init family.kb
    family.kb: a new knowledge base with 0 rules

Standard error follows standard output, and an exit code other than 0 is the last line, as `[exit 1]`. `...` stands for
anything.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from tests.project.documents import Step, steps
from tests.project.test_cli import Command

FOLDER = Path(__file__).parent / "sessions"
_FILE = re.compile(r"^(\S+):\n((?:    .*\n|\n)+)", re.MULTILINE)


@dataclass(frozen=True)
class Session:
    files: dict[str, str]
    steps: list[Step]


def read_session(path: Path) -> Session:
    text = path.read_text(encoding="utf-8")
    head, dollar, body = text.partition("\n$ ")
    files = {name: dedent(content).strip() + "\n" for name, content in _FILE.findall(f"{head}\n")}
    return Session(files, steps(f"$ {body}") if dollar else [])


def write_files(session: Session) -> None:
    for name, content in session.files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content, encoding="utf-8")


def run_step(step: Step, tidelog: Command) -> str:
    """What the command prints, as a session shows it; `cat` and `ls` are there to look at files."""
    program, *arguments = shlex.split(step.command)
    if program == "cat":
        return "".join(Path(name).read_text(encoding="utf-8") for name in arguments)
    if program == "ls":
        return "".join(f"{name}\n" for name in sorted(p.name for p in Path(*arguments).iterdir()))
    assert program == "tidelog"
    ran = tidelog(*arguments)
    return ran.out + ran.err + (f"[exit {ran.code}]\n" if ran.code else "")
