"""A place in the tokens of one statement, with the few moves a recursive-descent parser needs."""

from __future__ import annotations

from tidelog.errors import ParseError
from tidelog.rules.scope import Scope
from tidelog.rules.tokens import Source, Token


class Cursor:
    """Reads one statement. `token` is the next token; the last one is the dot or the end of the text."""

    def __init__(self, source: Source, tokens: list[Token], scope: Scope) -> None:
        self.source = source
        self.tokens = tokens
        self.scope = scope
        self.index = 0
        self.token = tokens[0]

    def advance(self) -> Token:
        """Take the next token; the last one is never passed."""
        token = self.token
        if self.index + 1 < len(self.tokens):
            self.index += 1
            self.token = self.tokens[self.index]
        return token

    def ahead(self) -> Token:
        """The token after the next."""
        return self.tokens[min(self.index + 1, len(self.tokens) - 1)]

    def accept(self, kind: str) -> bool:
        if self.token.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str, wanted: str = "") -> Token:
        if self.token.kind != kind:
            raise self.unexpected(wanted or f"`{kind}`")
        return self.advance()

    def unexpected(self, wanted: str) -> ParseError:
        return self.error(f"expected {wanted}, found {self.token}")

    def error(self, message: str, token: Token | None = None) -> ParseError:
        return self.source.error(message, (token or self.token).start)
