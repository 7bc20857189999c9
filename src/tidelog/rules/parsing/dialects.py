"""Hints for readers who know another dialect of Datalog: Soufflé, Prolog, Datalog of the textbooks, SPARQL, clingo.

`hint` looks at the text where an error is, and says what was found and what to write instead. It is called only when a
text has an error, so it never changes what a program means.
"""

from __future__ import annotations

import re

_NEGATION = "negation is a tilde before an atom here: ~p(?x)"
_ARROW = "the arrow of a rule is `:-` here, with the head before it: p(?x) :- q(?x) ."
_AGGREGATE = "an aggregate stands in the head of a rule here: p(?x, #count(?y)) :- q(?x, ?y) ."
_ALTERNATIVE = "alternatives are rules of their own here: write a rule for each, with the same head"
_COMMENT = "a comment starts with % here and ends at the end of the line"

# What stands at the error (the group `found` is shown) -> what to write here.
_AT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), advice)
    for pattern, advice in (
        (r"(?P<found>not)\s+[\w<:\[]", _NEGATION),
        (r"(?P<found>\\\+)", _NEGATION),
        (r"(?P<found>!)\s*[^\W\d][\w:-]*\s*[(\[]", _NEGATION),
        (r"(?P<found>//|/\*)", _COMMENT),
        (r"(?P<found>\.decl)\b", "relations are not declared here; remove the line"),
        (r"(?P<found>\.input)\b", 'write @import edge :- tsv{resource="edge.facts"} .'),
        (r"(?P<found>\.(?:output|printsize))\b", "write @export edge :- csv{} ."),
        (r"(?P<found>\.(?:type|comp|init|plan|pragma|functor|limitsize))\b", "Soufflé's directives do not exist here"),
        (r"(?P<found><-|<=|->|=>|:=|⇐|←|→|⇒)", _ARROW),
        (r"(?P<found>[;|∨])", _ALTERNATIVE),
        (r"(?P<found>&&?|and\b|∧)", "conditions are joined with a comma here"),
        (r"(?P<found>or\b)", _ALTERNATIVE),
        (r"\?\w+\s+(?P<found>is)\s", "a value is assigned with `=` here: ?n = ?m + 1"),
        (r"(?P<found>\?-)", "a program has no queries; give the query to `tidelog query` or `tidelog run --query`"),
        (r"(?P<found>(?:exists|forall|∃|∀)\b)", "variables need no quantifiers here"),
        (r"(?P<found>¬)", _NEGATION),
    )
)
# What stands before the error, in the same statement -> what to write here.
_BEFORE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"{pattern}\Z"), advice)
    for pattern, advice in (
        (r"(?P<found>(?:^|(?<=[.\n]))\s*(?:PREFIX|Prefix|prefix))\s+", "write @prefix ex: <…> . (with @ and a dot)"),
        (r"(?P<found>(?:^|(?<=[.\n]))\s*(?:BASE|Base|base))\s+", "write @base <…> . (with @ and a dot)"),
        (r"(?P<found>\b(?:count|sum|min|max|mean)\b)[^.\n]*", _AGGREGATE),
        (r"(?P<found>\b[nN][oO][tT]\s*\()\s*", _NEGATION),
    )
)
# Two characters around the error -> the operator here.
_OPERATORS = {"==": "=", "=<": "<=", "<>": "!=", "=!": "!=", "=\\": "!=", "\\=": "!=", "/=": "!="}
_LONGEST_LINE = 2_000


def hint(message: str, text: str, offset: int) -> str:
    """The message of an error at `offset`, or a better one if the text is of another dialect."""
    for pattern, advice in _AT:
        if match := pattern.match(text, offset):
            return _found(match, advice)
    operator = text[max(offset - 1, 0) : offset + 1]
    if operator in _OPERATORS:
        return f"found `{operator}`; write `{_OPERATORS[operator]}` here"
    before = text[max(text.rfind("\n", 0, offset) + 1, offset - _LONGEST_LINE) : offset]
    for pattern, advice in _BEFORE[:2] if text[offset : offset + 1] != ":" else _BEFORE[:3]:
        if match := pattern.search(before):
            return _found(match, advice)
    if message.startswith("unknown function") and (match := _BEFORE[3][0].search(before)):
        return _found(match, _NEGATION)
    return f"{message}{_missing_dot(message, text, offset, before)}"


def _found(match: re.Match[str], advice: str) -> str:
    return f"found `{match['found'].strip()}`; {advice}"


def _missing_dot(message: str, text: str, offset: int, before: str) -> str:
    """A question for a statement that runs on into the next line, or to the end of the text."""
    if "`.`" not in message or (before.strip() and text[offset:].strip()):
        return ""
    above = text[:offset].rstrip()
    if not above or above[-1] in ",.":
        return ""
    line = above.count("\n") + 1
    return f"; is the dot at the end of line {line} missing?"
