"""Rule languages of others, read into our rules and facts: Notation3 and RuleML Datalog.

Each gives a `Program`, as the parser of our own language does, and says exactly where something cannot be read.
"""

from collections.abc import Callable

from tidelog.languages.n3 import parse_n3
from tidelog.languages.ruleml import parse_ruleml
from tidelog.rules.syntax import Program

# By the ending of a file's name.
LANGUAGES: dict[str, Callable[[str, str], Program]] = {".n3": parse_n3, ".ruleml": parse_ruleml}

__all__ = ["LANGUAGES", "parse_n3", "parse_ruleml"]
