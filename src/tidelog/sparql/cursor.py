"""Reading tokens one after the other, with errors that say what was expected."""

from __future__ import annotations

from typing import NoReturn

from tidelog.errors import ParseError
from tidelog.sparql.tokens import END, SIGN, WORD, Token, location, tokenise, with_code_points


class Cursor:
    """A place among the tokens of a text."""

    def __init__(self, text: str) -> None:
        self.text = with_code_points(text)
        self.tokens = tokenise(self.text)
        self.position = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def peek(self, ahead: int = 1) -> Token:
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def advance(self) -> Token:
        token = self.token
        self.position += token.kind != END
        return token

    def is_sign(self, *signs: str) -> bool:
        return self.token.kind == SIGN and self.token.text in signs

    def is_word(self, *words: str) -> bool:
        return self.token.kind == WORD and self.token.text.upper() in words

    def sign(self, *signs: str) -> str:
        """The sign at this place, if it is one of these; it is passed."""
        return self.advance().text if self.is_sign(*signs) else ""

    def word(self, *words: str) -> str:
        """The keyword at this place in capitals, if it is one of these; it is passed."""
        return self.advance().text.upper() if self.is_word(*words) else ""

    def expect(self, sign: str) -> None:
        if not self.sign(sign):
            self.fail(f"'{sign}'")

    def expect_word(self, *words: str) -> str:
        return self.word(*words) or self.fail(" or ".join(words))

    def fail(self, expected: str) -> NoReturn:
        """Something else was expected here."""
        found = "the end of the query" if self.token.kind == END else repr(self.token.text)
        raise ParseError(f"expected {expected}, found {found}", location(self.text, self.token.start))

    def wrong(self, message: str, token: Token | None = None) -> NoReturn:
        """What stands here is not allowed."""
        raise ParseError(message, location(self.text, (token or self.token).start))
