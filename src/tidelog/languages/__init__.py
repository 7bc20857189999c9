"""Parsers of other rule languages: Notation3 and RuleML Datalog.

Each parser returns a `RuleFile`, like the parser of our own language, and reports errors with their place. The module
of a language is imported when a file in that language is read.
"""

from collections.abc import Callable

from tidelog.rules.syntax import RuleFile


def parse_n3(text: str, file: str = "<text>") -> RuleFile:
    """Parse a Notation3 document."""
    from tidelog.languages import n3

    return n3.parse_n3(text, file)


def parse_ruleml(text: str, file: str = "<text>") -> RuleFile:
    """Parse a RuleML document."""
    from tidelog.languages import ruleml

    return ruleml.parse_ruleml(text, file)


# File name ending -> parser.
LANGUAGES: dict[str, Callable[[str, str], RuleFile]] = {".n3": parse_n3, ".ruleml": parse_ruleml}

__all__ = ["LANGUAGES", "parse_n3", "parse_ruleml"]
