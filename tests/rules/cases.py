"""Cases as text. A case is a title after `#`, a program, a line of dashes, and what is expected:

    # a variable that nothing binds
    p(?y) :- q(?x) .
    ----
    …

Lines of `=` separate cases. To add one, add it to the file; the tests find it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class Case(NamedTuple):
    title: str
    program: str
    expected: str

    def __str__(self) -> str:
        return self.title


def cases(name: str) -> list[Case]:
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return [_case(part) for part in re.split(r"(?m)^={4,}\n", text)]


def _case(part: str) -> Case:
    title, _, rest = part.partition("\n")
    assert title.startswith("# "), title
    program, dashes, expected = rest.partition("\n----\n")
    assert dashes, title
    return Case(title[2:], program, expected.rstrip("\n"))
