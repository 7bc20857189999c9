"""One process changes a knowledge base while others read it; says every read that was not exactly one version.

`python -m tests.store.concurrency FOLDER COMMITS READERS` prints a report as JSON. The writer notes the content of each
version; the readers open, refresh, look at the past and note what they saw, until the writer is done.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import tidelog
from tests.store.forks import Say, start
from tests.store.knowledge import OTHER_RULES, RULES, Knowledge, content
from tests.store.sweep import Report
from tidelog.errors import UsageError
from tidelog.knowledge_base import KnowledgeBase

PATIENCE = 900.0
Sight = list[Any]  # a version, and what was read of it
KEPT = 20  # versions before the newest that a compaction leaves readable


def write(path: Path, commits: int, say: Say) -> None:
    with tidelog.open(path) as kb:
        for number in range(commits):
            _change(kb, number)
            say(_sight(kb))
            if number % 50 == 49:
                kb.compact(keep=KEPT)
    (path.parent / "done").touch()


def _change(kb: KnowledgeBase, number: int) -> None:
    """Mostly facts that come and go, with consequences; at times rules."""
    edge = f"edge(n{number % 7}, n{number % 5}) . edge(n{number % 5}, m{number % 13}) ."
    match number % 6:
        case 0:
            kb.apply(remove=edge)
        case 1 if number % 4 == 1:
            kb.apply(add=edge, add_rules=OTHER_RULES)
        case 1:
            kb.apply(add=edge, remove_rules=OTHER_RULES if any("source" in str(r) for r in kb.rules) else None)
        case _:
            kb.apply(add=edge, add_rules=RULES)


def read(path: Path, say: Say) -> None:
    """Alternately a knowledge base that stays open and one that is opened anew."""
    kept = tidelog.open(path)
    seen: list[Sight] = []
    done = False
    while not done:
        done = (path.parent / "done").exists()  # looked at first, so that the newest version is read too
        kept.refresh()
        seen.append(_sight(kept))
        with tidelog.open(path) as other:
            seen.append(_sight(other))
        seen += _past(kept)
    kept.close()
    say(seen)


def _sight(kb: KnowledgeBase) -> Sight:
    return [kb.version, [content(kb), kb.digest()]]


def _past(kb: KnowledgeBase) -> Iterator[Sight]:
    """An older version, unless a compaction has just made it unreadable, which is said clearly."""
    with suppress(UsageError):
        yield _sight(kb.at(max(1, kb.version - 5)))


def run(path: Path, commits: int, readers: int) -> Report:
    Knowledge()  # low thresholds
    with tidelog.open(path):
        pass
    writing = start(lambda say: write(path, commits, say))
    reading = [start(lambda say: read(path, say)) for _ in range(readers)]
    ended = [process.wait(PATIENCE) for process in (writing, *reading)]
    report = Report()
    for process in ended:
        report.problems += [] if process.whole else [process.error or f"ended by signal {process.signal}"]
    if report.problems:
        return report
    written = dict(ended[0].said)
    for number, sights in enumerate(process.said for process in ended[1:]):
        report.points += len(sights[-1])
        report.problems += [f"reader {number}: {text}" for text in _wrong(written, sights[-1])]
    return report


def _wrong(written: dict[int, object], sights: list[Sight]) -> Iterator[str]:
    for version, saw in sights:
        if version and written.get(version) != saw:
            yield f"version {version} is {written.get(version)}, and was read as {saw}"
    seen = [version for version, _ in sights]
    if max(seen, default=0) != max(written, default=-1) or len(set(seen)) < 3:
        yield f"read only versions {sorted(set(seen))[:3]} … {max(seen, default=0)}"


def main(folder: str, commits: str, readers: str) -> None:
    print(json.dumps(vars(run(Path(folder) / "x.kb", int(commits), int(readers)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
