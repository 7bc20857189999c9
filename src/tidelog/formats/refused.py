"""Lines that cannot be read: they are counted, a few are remembered, and all are written down if that is wanted.

A reader calls `Refuse` for each bad line and goes on; without one it raises the error of the first. What is written
down is JSON, one object a line: the file, the number of the line in it, what is wrong with it, and its text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO

from tidelog.errors import InputError

Refuse = Callable[[InputError], None]
REMEMBERED = 10


@dataclass
class Refused:
    """The bad lines of some files."""

    stream: IO[bytes] | None = None
    count: int = 0
    examples: list[str] = field(default_factory=list)

    def __call__(self, error: InputError) -> None:
        self.count += 1
        if len(self.examples) < REMEMBERED:
            self.examples.append(str(error))
        if self.stream is not None:
            self.stream.write(_record(error))


def _record(error: InputError) -> bytes:
    where = error.location
    assert where is not None, "a bad line is somewhere"
    record = {"file": where.file, "line": where.line, "reason": error.message, "text": where.text}
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"
