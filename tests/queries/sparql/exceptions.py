"""The list of W3C tests that do not pass, with reasons: `exceptions.txt`.

A line that is not indented is a reason, and the indented lines under it name the tests. A reason that starts with
`outside:` says that the test is not about what tidelog offers; any other is a failure.
"""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).parent / "exceptions.txt"
OUTSIDE = "outside: "


def exceptions() -> dict[str, str]:
    """Reasons by the name of the test."""
    found: dict[str, str] = {}
    reason = ""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            found |= dict.fromkeys(line.split(), reason)
        elif line and not line.startswith("#"):
            reason = line
    return found
