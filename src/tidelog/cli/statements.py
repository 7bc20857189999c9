"""Statements of the shell: where one ends, and what it is.

    .explain p(a)               a command; one line
    p(a) .                      facts and rules to add: they end with a dot
    q(?x) :- p(?x) .
    ?- q(?x) .   q(?x)          a query: it starts with `?-`, or has no final dot, or has variables but no `:-`
    SELECT …   INSERT …         SPARQL: it ends on the line where its braces are closed

Any other statement goes on in the next line while a bracket is open, after a comma, and after `:-` until the dot. An
empty line ends every statement.
"""

from __future__ import annotations

import re
from typing import Literal

from tidelog.errors import ParseError
from tidelog.queries.language import PROLOGUE, is_sparql
from tidelog.rules.parsing.tokens import RuleToken, SourceText, statement

Kind = Literal["command", "query", "sparql", "update", "change"]

UPDATE_REQUEST = re.compile(
    rf"{PROLOGUE}(?:INSERT|DELETE|LOAD|CLEAR|DROP|CREATE|ADD|MOVE|COPY|WITH)[\s{{]", re.IGNORECASE
)
_OPENING, _CLOSING = ("(", "[", "{", "#["), (")", "]", "}")
_GOES_ON = (",", ":-", "~", "+", "-", "*", "/", "=", "!=", "<", "<=", ">", ">=")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|<[^<>\s]*>|#.*')


def kind_of(text: str) -> Kind:
    """What a complete statement is."""
    if text.startswith("."):
        return "command"
    if text.startswith("?-"):
        return "query"
    if is_sparql(text):
        return "sparql"
    if UPDATE_REQUEST.match(text):
        return "update"
    tokens = _tokens(text) or []
    kinds = {t.kind for t in tokens}
    last = next((t.kind for t in reversed(tokens) if t.kind != "end"), "")
    is_directive = bool(tokens) and tokens[0].kind == "at"
    return "change" if ":-" in kinds or is_directive or (last == "." and "variable" not in kinds) else "query"


def query_text(text: str) -> str:
    """The body of a query, without `?-` and the final dot."""
    return text.removeprefix("?-").strip().removesuffix(".")


def is_complete(text: str) -> bool:
    """Whether a statement ends here. It goes on in the next line otherwise."""
    text = text.strip()
    if not text or text.startswith("."):
        return True
    if is_sparql(text) or UPDATE_REQUEST.match(text):
        bare = _QUOTED.sub("", text)
        return "{" in bare and bare.count("{") <= bare.count("}")
    tokens = _tokens(text.removeprefix("?-"))
    if tokens is None:
        return '"""' not in text or text.count('"""') % 2 == 0
    kinds = [t.kind for t in tokens if t.kind != "end"]
    if not kinds or kinds[-1] == ".":
        return True
    is_open = sum(k in _OPENING for k in kinds) > sum(k in _CLOSING for k in kinds)
    is_clause = ":-" in kinds and not text.startswith("?-")
    return not (is_open or is_clause or kinds[-1] in _GOES_ON or kinds[0] == "at")


def _tokens(text: str) -> list[RuleToken] | None:
    """The tokens of all statements in a text; None if it cannot be read, so that the error is shown."""
    try:
        source = SourceText(text, "<shell>")
        tokens, position = [], 0
        while True:
            found = statement(source, position)
            tokens += found
            position = found[-1].end
            if found[-1].kind == "end":
                return tokens
    except ParseError:
        return None
