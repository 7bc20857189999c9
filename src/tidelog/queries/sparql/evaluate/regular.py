"""REGEX and REPLACE, on columns of texts. RE2 matches in time linear in the text, so no pattern can blow up.

Patterns are those of XPath, which RE2 has nearly all of; classes such as `\\d` and `\\w` mean Unicode there and are
spelled out. Patterns that RE2 does not have (back references) are errors, as any wrong pattern is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

_CLASSES = {"d": r"\p{Nd}", "w": r"\p{L}\p{M}\p{N}\p{S}", "i": r"\p{L}_:", "c": r"\p{L}\p{M}\p{N}_:.\-·"}
_PIECE = re.compile(r"\\(.)|(\[\^?)|(\])|(\s)|([^\\\[\]\s])", re.DOTALL)
_FLAGS = frozenset("smixq")


@lru_cache(256)
def translated(pattern: str, flags: str) -> str | None:
    """An XPath pattern as one of RE2; None for what is no pattern."""
    if not _FLAGS.issuperset(flags):
        return None
    modes = "".join(f for f in "ism" if f in flags)
    prefix = f"(?{modes})" if modes else ""
    body = re.escape(pattern) if "q" in flags else _spelled(pattern, "x" in flags)
    made = prefix + body
    try:
        pc.match_substring_regex(pa.array([""]), made)
    except pa.ArrowInvalid:
        return None
    return made


def _spelled(pattern: str, extended: bool) -> str:
    """With Unicode classes, and without white space where it does not count."""
    out: list[str] = []
    depth = 0
    for escaped, opening, closing, space, other in _PIECE.findall(pattern):
        if escaped:
            out.append(_escape(escaped, depth > 0))
        elif space:
            out.append("" if extended and not depth else space)
        else:
            depth += bool(opening) - bool(closing and depth)
            out.append(opening or closing or other)
    return "".join(out)


def _escape(letter: str, inside: bool) -> str:
    members = _CLASSES.get(letter.lower())
    if members is None:
        return f"\\{letter}"
    if letter.islower():
        return members if inside else f"[{members}]"
    return f"[^{members}]" if not inside else f"\\{letter}"


def matches(texts: Sequence[str], pattern: str, flags: str) -> list[bool] | None:
    """Whether each text has a part that matches; None for a wrong pattern."""
    made = translated(pattern, flags)
    if made is None:
        return None
    found: list[bool] = pc.match_substring_regex(pa.array(texts, pa.large_string()), made).to_pylist()
    return found


def replaced(texts: Sequence[str], pattern: str, replacement: str, flags: str) -> list[str] | None:
    """Each text with all matches replaced; None for a wrong pattern or replacement, and where nothing would match."""
    made = translated(pattern, flags)
    if made is None or matches([""], pattern, flags) == [True]:
        return None
    rewritten = replacement.replace("\\", "\\\\") if "q" in flags else _rewritten(replacement)
    if rewritten is None:
        return None
    try:
        found: list[str] = pc.replace_substring_regex(pa.array(texts, pa.large_string()), made, rewritten).to_pylist()
    except pa.ArrowInvalid:
        return None
    return found


def _rewritten(replacement: str) -> str | None:
    """`$1` is `\\1` there; a backslash stands only before a backslash or a dollar."""
    out = []
    for escaped, group, other in re.findall(r"\\(.?)|\$([0-9]?)|([^\\$]+)", replacement, re.DOTALL):
        if other:
            out.append(other)
        elif group:
            out.append(f"\\{group}")
        elif escaped in ("\\", "$") and escaped:
            out.append("\\\\" if escaped == "\\" else "$")
        else:
            return None
    return "".join(out)
