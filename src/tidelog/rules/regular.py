r"""Regular expressions that cannot blow up: an automaton reads the text once, character by character.

A pattern becomes a nondeterministic automaton; sets of its states are turned into states of a deterministic one as the
text demands them (Thompson 1968). The syntax is what Rust (hence Nemo) and Python share: literals, `.`, classes,
`\d \w \s \b` and their opposites, `\p{L}`, groups, `|`, `* + ? {m,n}` and lazy forms, `^ $ \A \z`, flags `i s m`.
Look-around and back references are not regular; they are refused, as are patterns that need too many states.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

LONGEST_PATTERN = 1000
MOST_STATES = 5000
# States times characters: what one match may cost.
MOST_STEPS = 10_000_000

_DEEPEST_GROUP = 50
_CACHED_PATTERNS = 32
# States that the remembered steps of one pattern may name, all together.
_CACHED_STATES = 50_000

Test = Callable[[str], object]


class PatternError(ValueError):
    """The pattern is not one this module can match."""


@dataclass(frozen=True, slots=True)
class _Char:
    test: Test


@dataclass(frozen=True, slots=True)
class _Assert:
    kind: str


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    parts: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    part: _Node
    least: int
    most: int | None


_Node = _Char | _Assert | _Sequence | _Choice | _Repeat

_CLASS = re.compile(r"\[\^?\]?(?:[^\[\]\\]|\\.)*\]", re.DOTALL)
_REFUSED_IN_CLASS = re.compile(r"&&|--|~~|\|\||\\[bBpPAzZ0-9]")
_CHARACTER_ESCAPE = re.compile(r"\\(?:[dDwWsSnrtfv]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[^A-Za-z0-9])")
_PROPERTY = re.compile(r"\\([pP])(?:\{([A-Z][a-z]?)\}|([A-Z]))")
_COUNT = re.compile(r"\{([0-9]{1,4})(,([0-9]{1,4})?)?\}")
_GROUP = re.compile(r"\((?:\?(?:P?<\w+>|([ismu]*)([:)])))?")
_ASSERTIONS = {"\\b": "b", "\\B": "B", "\\A": "A", "\\z": "z"}
_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE, "u": re.UNICODE}


class _Parser:
    """Recursive descent over the pattern; the depth of groups is bounded."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.flags = re.UNICODE
        self.depth = 0

    def parse(self) -> _Node:
        node = self.choice()
        if self.at < len(self.pattern):
            raise PatternError("unmatched )")
        return node

    def peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def take(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        match = expression.match(self.pattern, self.at)
        if match:
            self.at = match.end()
        return match

    def choice(self) -> _Node:
        parts = [self.sequence()]
        while self.peek() == "|":
            self.at += 1
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else _Choice(tuple(parts))

    def sequence(self) -> _Node:
        parts: list[_Node] = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.repeated(self.atom()))
        return _Sequence(tuple(parts))

    def repeated(self, node: _Node) -> _Node:
        while (sign := self.peek()) and sign in "*+?{":
            least, most = self.counts()
            if self.peek() == "?":  # lazy: the same texts match
                self.at += 1
            node = _Repeat(node, least, most)
        return node

    def counts(self) -> tuple[int, int | None]:
        if self.peek() != "{":
            self.at += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[self.pattern[self.at - 1]]
        match = self.take(_COUNT)
        if match is None:
            raise PatternError("expected {m}, {m,} or {m,n}")
        least = int(match[1])
        most = least if match[2] is None else int(match[3]) if match[3] else None
        if most is not None and most < least:
            raise PatternError("empty range of repetitions")
        return least, most

    def atom(self) -> _Node:
        sign = self.peek()
        if sign == "(":
            return self.group()
        if sign == "\\":
            return self.escape()
        if sign in "*+?{":
            raise PatternError("nothing to repeat")
        if sign in "^$":
            self.at += 1
            return _Assert(("M" if self.flags & re.MULTILINE else "") + sign)
        return self.character_class() if sign == "[" else self.literal()

    def literal(self) -> _Node:
        sign = self.peek()
        self.at += 1
        return self.char("." if sign == "." else re.escape(sign))

    def character_class(self) -> _Node:
        match = self.take(_CLASS)
        if match is None or _REFUSED_IN_CLASS.search(match[0]):
            raise PatternError("character class not understood")
        return self.char(match[0])

    def char(self, fragment: str) -> _Char:
        """A single character, tested by Python's engine: one character cannot blow up."""
        try:
            return _Char(re.compile(fragment, self.flags).fullmatch)
        except re.error as error:
            raise PatternError(str(error)) from error

    def escape(self) -> _Node:
        if kind := _ASSERTIONS.get(self.pattern[self.at : self.at + 2]):
            self.at += 2
            return _Assert(kind)
        if match := self.take(_PROPERTY):
            return _Char(_in_category(match[2] or match[3], match[1] == "p"))
        if match := self.take(_CHARACTER_ESCAPE):
            return self.char(match[0])
        raise PatternError("escape not understood")

    def group(self) -> _Node:
        match = self.take(_GROUP)
        if match is None or (match[0] == "(" and self.peek() == "?"):
            raise PatternError("only plain groups are supported")
        outer = self.flags
        for flag in match[1] or "":
            self.flags |= _FLAGS[flag]
        if match[2] == ")":  # flags for the rest of the enclosing group
            return _Sequence(())
        node = self.nested()
        self.flags = outer
        return node

    def nested(self) -> _Node:
        self.depth += 1
        if self.depth > _DEEPEST_GROUP:
            raise PatternError("groups nested too deeply")
        node = self.choice()
        if self.peek() != ")":
            raise PatternError("missing )")
        self.at += 1
        self.depth -= 1
        return node


def _in_category(category: str, wanted: bool) -> Test:
    return lambda c: unicodedata.category(c).startswith(category) is wanted


@dataclass(slots=True)
class _State:
    """Reads a character that passes `test`, or checks `assertion`, or neither; then goes on to `following`."""

    following: list[int]
    test: Test | None = None
    assertion: str = ""


class _Automaton:
    """State 0 accepts. Built backwards: each part is told the state that follows it."""

    def __init__(self, node: _Node) -> None:
        self.states = [_State([])]
        self.budget = MOST_STATES
        self.start = self.build(node, 0)
        self.steps: dict[tuple[frozenset[int], str, str], frozenset[int] | None] = {}
        self.held = 0

    def add(self, state: _State) -> int:
        self.states.append(state)
        return len(self.states) - 1

    def build(self, node: _Node, after: int) -> int:
        self.budget -= 1
        if self.budget < 0:
            raise PatternError("the pattern needs too many states")
        if isinstance(node, _Char):
            return self.add(_State([after], test=node.test))
        if isinstance(node, _Assert):
            return self.add(_State([after], assertion=node.kind))
        if isinstance(node, _Choice):
            return self.add(_State([self.build(part, after) for part in node.parts]))
        if isinstance(node, _Repeat):
            return self.repeat(node, after)
        for part in reversed(node.parts):
            after = self.build(part, after)
        return after

    def repeat(self, node: _Repeat, after: int) -> int:
        if node.most is None:
            loop = self.add(_State([after]))
            self.states[loop].following.append(self.build(node.part, loop))
            after = loop
        else:
            end = after
            for _ in range(node.most - node.least):
                after = self.add(_State([end, self.build(node.part, after)]))
        for _ in range(node.least):
            after = self.build(node.part, after)
        return after

    def search(self, text: str) -> bool:
        """Whether some part of the text matches."""
        current: frozenset[int] = frozenset()
        before = ""
        for following in (*text, ""):
            key = (current, _context(before), following)
            if key not in self.steps:
                self.remember(key, before)
            found = self.steps[key]
            if found is None:
                return True
            current, before = found, following
        return False

    def remember(self, key: tuple[frozenset[int], str, str], before: str) -> None:
        self.held += len(key[0]) + 1
        if self.held > _CACHED_STATES:
            self.steps.clear()
            self.held = 0
        reached = self.closure(key[0] | {self.start}, before, key[2])
        self.steps[key] = None if 0 in reached else self.read(reached, key[2])

    def closure(self, states: frozenset[int], before: str, following: str) -> set[int]:
        """All states reachable without reading, between two characters ("" at either end of the text)."""
        reached: set[int] = set()
        agenda = list(states)
        while agenda:
            index = agenda.pop()
            state = self.states[index]
            if index in reached or (state.assertion and not _asserted(state.assertion, before, following)):
                continue
            reached.add(index)
            if state.test is None:
                agenda += state.following
        return reached

    def read(self, states: set[int], character: str) -> frozenset[int]:
        found = (self.states[i] for i in states)
        return frozenset(s.following[0] for s in found if s.test and character and s.test(character))


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()


def _context(character: str) -> str:
    """All that assertions can see of the character before: the start, a line end, a word character or another."""
    return character if character in ("", "\n") else "w" if _is_word(character) else "."


def _asserted(kind: str, before: str, following: str) -> bool:
    if kind in ("^", "A"):
        return before == ""
    if kind in ("$", "z"):
        return following == ""
    if kind == "M^":
        return before in ("", "\n")
    if kind == "M$":
        return following in ("", "\n")
    return (_is_word(before) != _is_word(following)) == (kind == "b")


@lru_cache(_CACHED_PATTERNS)
def _compiled(pattern: str) -> _Automaton | None:
    try:
        return _Automaton(_Parser(pattern).parse()) if len(pattern) <= LONGEST_PATTERN else None
    except PatternError:
        return None


def search(pattern: str, text: str) -> bool | None:
    """Whether the pattern matches somewhere in the text; None when the pattern or the effort is refused."""
    automaton = _compiled(pattern)
    if automaton is None or len(automaton.states) * len(text) > MOST_STEPS:
        return None
    return automaton.search(text)
