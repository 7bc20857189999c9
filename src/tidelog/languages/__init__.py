"""Rule languages of others, read into our rules and facts: Notation3 and RuleML Datalog.

Each gives a `RuleFile`, as the parser of our own language does, and says exactly where something cannot be read. A
language's module is imported when a file of it is read.
"""

from collections.abc import Callable

from tidelog.rules.syntax import RuleFile


def parse_n3(text: str, file: str = "<text>") -> RuleFile:
    """Notation3."""
    from tidelog.languages import n3

    return n3.parse_n3(text, file)


def parse_ruleml(text: str, file: str = "<text>") -> RuleFile:
    """RuleML Datalog."""
    from tidelog.languages import ruleml

    return ruleml.parse_ruleml(text, file)


# By the ending of a file's name.
LANGUAGES: dict[str, Callable[[str, str], RuleFile]] = {".n3": parse_n3, ".ruleml": parse_ruleml}

__all__ = ["LANGUAGES", "parse_n3", "parse_ruleml"]
