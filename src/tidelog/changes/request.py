"""How a change is carried out: by which algorithm, where, and what becomes of lines that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tidelog.errors import UsageError
from tidelog.formats import BAD_LINES, FAIL, QUARANTINE, BadLineCollector, written_aside


def silent(_: str) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Manner:
    """`progress` is told what is being done; `quarantine` is the file for bad lines, with bad_lines="quarantine"."""

    algorithm: str = "auto"
    engine: str = "auto"
    master: str | None = None
    bad_lines: str = FAIL
    quarantine: Path | None = None
    progress: Callable[[str], None] = silent

    def __post_init__(self) -> None:
        if self.bad_lines not in BAD_LINES:
            raise UsageError(f"unknown bad_lines={self.bad_lines!r}; choose one of: {', '.join(BAD_LINES)}")
        if (self.bad_lines == QUARANTINE) != (self.quarantine is not None):
            raise UsageError(
                'name a file for bad lines with bad_lines="quarantine", and only then: quarantine="bad.jsonl"'
            )

    @contextmanager
    def refused(self) -> Iterator[BadLineCollector | None]:
        """What readers tell bad lines to; None if the first is to be an error."""
        if self.bad_lines == FAIL:
            yield None
        elif self.quarantine is None:
            yield BadLineCollector()
        else:
            with written_aside(self.quarantine) as stream:
                yield BadLineCollector(stream)
