"""Every error a user can meet. Each says what is wrong, where, and what to do.

All derive from `TidelogError`; the command line turns them into exit code 1 (problem in the data)
or 2 (wrong use) through `exit_code`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message: the known word that is most similar to `word`, if one is.

    >>> did_you_mean("quary", ["query", "update"]), did_you_mean("fly", ["query", "update"])
    ('; did you mean query?', '')
    """
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""


class TidelogError(Exception):
    """Something is wrong with the input, the rules or the store; the message says what to do."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a text: file (or "<text>"), line and column from 1, and the line itself for the caret."""

    file: str
    line: int
    column: int = 0
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"

    def caret(self) -> str:
        """The line with a caret under the column, or nothing when the line is not known."""
        if not self.text or not self.column:
            return ""
        start = max(0, self.column - 61)
        shown = self.text[start : start + 120].replace("\t", " ")
        return f"\n    {shown}\n    {' ' * (self.column - 1 - start)}^"


class LocatedError(TidelogError):
    """An error at a place: `file:line:column: message`, the line, and a caret."""

    def __init__(self, message: str, location: Location | None = None) -> None:
        self.message = message
        self.location = location
        super().__init__(f"{location}: {message}{location.caret()}" if location else message)


class ParseError(LocatedError):
    """The text of a program, a fact or a query does not parse."""


class RuleError(LocatedError):
    """A rule parses but cannot be run: unsafe, wrong arity, not stratified, unbounded, cartesian."""


class InputError(LocatedError):
    """A data file is malformed, missing or of an unknown kind."""


class UsageError(TidelogError):
    """An argument is wrong or a feature was asked for that does not exist."""

    exit_code = 2


class LimitError(TidelogError):
    """A declared limit (memory, facts created by a rule) would have been passed; nothing was changed."""


class ConstraintError(TidelogError):
    """A constraint `:- body .` has a match; the change was refused and nothing was changed."""


class StoreError(TidelogError):
    """A knowledge base on disk cannot be read or written; the last version that was committed is unchanged."""


class CorruptionError(StoreError):
    """A file of a knowledge base is not as it was written, or missing."""


class LockedError(StoreError):
    """Another process is changing the knowledge base."""
