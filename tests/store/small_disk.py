"""Fills a real small file system with commits until there is no room, makes room, and goes on.

`python -m tests.store.small_disk FOLDER` mounts a file system in memory on FOLDER, so it runs in a mount namespace of
its own (`unshare --mount`), which takes the mount away when it ends. Prints a report as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import tidelog
from tests.store.bench import Report
from tests.store.knowledge import RULES, Knowledge, bulk, content
from tidelog.errors import TidelogError
from tidelog.knowledge_base import KnowledgeBase

SIZE, BALLAST = 1_500_000, 700_000  # bytes; the ballast is thrown off to make room
BOUND = 5000  # commits that must have filled it


def mount(folder: Path) -> None:
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def fill(kb: KnowledgeBase, report: Report) -> str:
    """Commit small and large changes until one is refused; gives the content before it."""
    for number in range(BOUND):
        before = content(kb)
        try:
            kb.apply(add=bulk(1000 + 50 * number) if number % 3 else f"edge(n{number}, n7) .")
        except TidelogError as refusal:
            report.refused += 1
            report.messages.append(str(refusal))
            return before
        report.points += 1
    raise AssertionError(f"{BOUND} commits did not fill {SIZE} bytes")


def run(folder: Path) -> Report:
    Knowledge()  # low thresholds
    mount(folder)
    report, ballast = Report(), folder / "ballast"
    ballast.write_bytes(bytes(BALLAST))
    with tidelog.open(folder / "x.kb") as kb:
        kb.apply(add_rules=RULES)
        before = fill(kb, report)
        report.problems += [] if content(kb) == before else ["the refused change is there in part"]
        ballast.unlink()
        version = kb.apply(add="edge(after, all) .").version
        expected = content(kb)
    with tidelog.open(folder / "x.kb") as kb:
        report.problems += kb.verify(recompute=True).problems
        report.problems += [] if (kb.version, content(kb)) == (version, expected) else ["reopened, it is another one"]
    return report


if __name__ == "__main__":
    print(json.dumps(vars(run(Path(sys.argv[1])))))
