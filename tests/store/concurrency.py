"""One process changes a knowledge base while others read it; says every read that was not exactly one version.

`python -m tests.store.concurrency FOLDER COMMITS READERS LIVES` prints a report as JSON. The writer notes the content
of each version; the readers open, refresh, look at the past and note what they saw, until the writer is done. It dies
and is started again until its last life; for more than one the shim must be preloaded.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import tidelog
from tests.store.bench import Report
from tests.store.forks import Ended, Say, start
from tests.store.knowledge import OTHER_RULES, RULES, Knowledge, content
from tests.store.shim import CHANGES, Action, Shim
from tidelog.errors import UsageError
from tidelog.knowledge_base import KnowledgeBase

PATIENCE = 900.0  # seconds
KEPT = 20  # versions before the newest that a compaction leaves readable
Sight = list[Any]  # a version, and what was read of it


def write(path: Path, commits: int, calls: int, say: Say) -> None:
    """Up to so many commits, or so many system calls if those are limited."""
    with tidelog.open(path) as kb:
        say(_sight(kb))  # a life before may have ended between a commit and its note
        if calls:
            Shim(path.parent).arm(Action.KILL, CHANGES, calls)
        while kb.version < commits:
            _change(kb, kb.version)
            say(_sight(kb))
            if kb.version % 50 == 0:
                kb.compact(keep=KEPT)


def _change(kb: KnowledgeBase, number: int) -> None:
    """Mostly facts that come and go, with consequences; at times rules. A step is new, so there is always an effect."""
    step = f"step({number}) ."
    edge = f"edge(n{number % 7}, n{number % 5}) . edge(n{number % 5}, m{number % 13}) ."
    if number % 6 == 0:
        kb.apply(add=step, remove=edge)
    elif number % 6 == 1 and any("source" in str(rule) for rule in kb.rules):
        kb.apply(add=step + edge, remove_rules=OTHER_RULES)
    else:
        kb.apply(add=step + edge, add_rules=OTHER_RULES if number % 4 == 1 else RULES)


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


def run(path: Path, commits: int, readers: int, lives: int) -> Report:
    Knowledge()  # low thresholds
    tidelog.open(path).close()
    reading = [start(lambda say: read(path, say)) for _ in range(readers)]
    try:
        writing = [_live(path, commits, life, last=life == lives - 1) for life in range(lives)]
    finally:
        (path.parent / "done").touch()
    ended = [process.wait(PATIENCE) for process in reading]
    report = Report(refused=sum(life.signal != 0 for life in writing))
    report.problems += [e.error or f"ended by signal {e.signal}" for e in (*writing[-1:], *ended) if not e.whole]
    report.problems += [life.error for life in writing[:-1] if life.error]
    if not report.problems:
        written = {version: saw for life in writing for version, saw in life.said}
        for number, sights in enumerate(process.said[-1] for process in ended):
            report.points += len(sights)
            report.problems += [f"reader {number}: {text}" for text in _wrong(written, sights)]
    return report


def _live(path: Path, commits: int, life: int, *, last: bool) -> Ended:
    calls = 0 if last else random.Random(life).randrange(50, 500)
    return start(lambda say: write(path, commits, calls, say)).wait(PATIENCE)


def _wrong(written: dict[int, object], sights: list[Sight]) -> Iterator[str]:
    for version, saw in sights:
        if written.get(version) != saw:
            yield f"version {version} is {written.get(version)}, and was read as {saw}"
    seen = [version for version, _ in sights]
    if max(seen) != max(written) or len(set(seen)) < 3:
        yield f"read only versions {sorted(set(seen))[:3]} … {max(seen)} of {max(written)}"


def main(folder: str, commits: str, readers: str, lives: str) -> None:
    print(json.dumps(vars(run(Path(folder) / "x.kb", int(commits), int(readers), int(lives)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
