r"""Regular expressions, matched by RE2 (part of pyarrow) in time linear in the text.

    search(texts, pattern)                 REGEX in rules; patterns of Rust's regex crate, as in Nemo
    matches(texts, pattern, flags)         REGEX in SPARQL; patterns of XPath
    replaced(texts, pattern, …, flags)     REPLACE in SPARQL

RE2 has nearly all of both dialects. In both, `\d`, `\w` and `\s` are classes of Unicode characters, but in RE2 they are
classes of ASCII characters. So these classes are written out when a pattern is translated. Patterns that RE2 cannot
match (look-around, back references) are refused like wrong patterns. docs/rules.md lists the differences to Nemo.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

LONGEST_PATTERN = 1000  # characters, in rules
_CACHED = 256  # translated patterns

# Escape -> the members of its class, to be put into brackets.
_XPATH_CLASSES = {"d": r"\p{Nd}", "w": r"\p{L}\p{M}\p{N}\p{S}", "i": r"\p{L}_:", "c": r"\p{L}\p{M}\p{N}_:.\-·"}
_RUST_CLASSES = {"d": r"\p{Nd}", "w": r"\p{L}\p{M}\p{Nd}\p{Pc}", "s": r"\s\x0b\x85\p{Z}"}
_XPATH_PIECE = re.compile(r"\\(.)|(\[\^?)|(\])|(\s)|([^\\\[\]\s])", re.DOTALL)
_XPATH_FLAGS = frozenset("smixq")
_RUST_PIECE = re.compile(
    r"\\(?:u\{?|U\{?|x\{)(?P<code>[0-9A-Fa-f]{1,8})\}?|\\(?P<property>[pP](?:\{\^?\w+\}|\w))|\\x(?P<byte>[0-9A-Fa-f]{2})"
    r"|\\(?P<escape>[^0-9CEQ])|\((?P<group>\?[imsU-]*u[imsuU-]*(?=[:)])|\?<(?=[A-Za-z_]))"
    r"|(?P<posix>\[:\^?[a-z]+:\])|(?P<open>\[\^?\]?)|(?P<close>\])|(?P<count>\{[0-9]+(?:,[0-9]*)?\})|(?P<other>[^\\\[\]{])",
    re.DOTALL,
)
_SET_OPERATION = re.compile("&&|--|~~")


def search(texts: Sequence[str], pattern: str) -> list[bool] | None:
    """Whether each text has a part that matches a Rust pattern; None if the pattern is refused."""
    return _occurs(texts, _rust_pattern(pattern))


def matches(texts: Sequence[str], pattern: str, flags: str) -> list[bool] | None:
    """Whether each text has a part that matches an XPath pattern; None for a wrong pattern."""
    return _occurs(texts, xpath_pattern(pattern, flags))


def _occurs(texts: Sequence[str], pattern: str | None) -> list[bool] | None:
    if pattern is None:
        return None
    import pyarrow as pa
    import pyarrow.compute as pc

    found: list[bool] = pc.match_substring_regex(pa.array(texts, pa.large_string()), pattern).to_pylist()
    return found


def replaced(texts: Sequence[str], pattern: str, replacement: str, flags: str) -> list[str] | None:
    """Each text with all matches replaced; None for a wrong pattern or replacement, or a pattern that matches ''."""
    made = xpath_pattern(pattern, flags)
    if made is None or matches([""], pattern, flags) == [True]:
        return None
    rewritten = replacement.replace("\\", "\\\\") if "q" in flags else _xpath_replacement(replacement)
    if rewritten is None:
        return None
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        found: list[str] = pc.replace_substring_regex(pa.array(texts, pa.large_string()), made, rewritten).to_pylist()
    except pa.ArrowInvalid:
        return None
    return found


def _accepted(pattern: str) -> str | None:
    """The pattern, or None if RE2 refuses it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.match_substring_regex(pa.scalar(""), pattern)
    except pa.ArrowInvalid:
        return None
    return pattern


@lru_cache(_CACHED)
def xpath_pattern(pattern: str, flags: str) -> str | None:
    """The XPath pattern in RE2 syntax; None for a wrong pattern."""
    if not _XPATH_FLAGS.issuperset(flags):
        return None
    modes = "".join(f for f in "ism" if f in flags)
    body = re.escape(pattern) if "q" in flags else _xpath_body(pattern, "x" in flags)
    return _accepted(f"(?{modes}){body}" if modes else body)


def _xpath_body(pattern: str, extended: bool) -> str:
    """The pattern with Unicode classes. `extended`: without white space outside of brackets."""
    out: list[str] = []
    depth = 0
    for escaped, opening, closing, space, other in _XPATH_PIECE.findall(pattern):
        if escaped:
            out.append(_escape(escaped, depth > 0, _XPATH_CLASSES))
        elif space:
            out.append("" if extended and not depth else space)
        else:
            depth += bool(opening) - bool(closing and depth)
            out.append(opening or closing or other)
    return "".join(out)


def _escape(letter: str, inside: bool, classes: Mapping[str, str]) -> str:
    """The escape in RE2 syntax. A negated class inside brackets stays an ASCII class."""
    members = classes.get(letter.lower())
    if members is None:
        return f"\\{letter}"
    if letter.islower():
        return members if inside else f"[{members}]"
    return f"[^{members}]" if not inside else f"\\{letter}"


def _xpath_replacement(replacement: str) -> str | None:
    """The replacement in RE2 syntax: `$1` becomes `\\1`. None if a backslash is not before a backslash or dollar."""
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


@lru_cache(_CACHED)
def _rust_pattern(pattern: str) -> str | None:
    """The Rust pattern in RE2 syntax; None for a wrong pattern, and for one that RE2 would interpret differently."""
    out: list[str] = []
    at, inside = 0, False
    while at < len(pattern):
        piece = _RUST_PIECE.match(pattern, at)
        if inside and pattern[at] == "{":
            out.append("{")
            at += 1
            continue
        if piece is None or len(pattern) > LONGEST_PATTERN:
            return None
        kind, text = piece.lastgroup or "", piece[0]
        if inside and (kind == "open" or _SET_OPERATION.match(pattern, at)):
            return None  # nested classes and set operations
        if kind == "posix" and not inside:
            return None
        out.append(_rust_piece(kind, text, piece, inside))
        inside = kind == "open" or (inside and kind != "close")
        at = piece.end()
    return _accepted("".join(out))


def _rust_piece(kind: str, text: str, piece: re.Match[str], inside: bool) -> str:
    match kind:
        case "code":
            return rf"\x{{{piece['code']}}}"
        case "escape":
            return _escape(piece["escape"], inside, _RUST_CLASSES)
        case "group":  # Unicode is always on; a name is written with P
            return "(?P<" if text == "(?<" else text.replace("u", "").replace("(?", "(?i-i" if text == "(?u" else "(?")
        case _:
            return text
