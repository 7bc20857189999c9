"""tidelog keeps the consequences of rules over data exactly right while both change.

>>> import tidelog
>>> kb = tidelog.open()
>>> _ = kb.apply(add="parent(ann, bob) .", add_rules="child(?y, ?x) :- parent(?x, ?y) .")
>>> list(kb.query("child(?who, ann)"))
[('bob',)]
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidelog.answers import Answers, FactAnswers
    from tidelog.change import Change
    from tidelog.errors import (
        ConstraintError,
        InputError,
        LimitError,
        ParseError,
        RuleError,
        TidelogError,
        UsageError,
    )
    from tidelog.knowledge_base import KnowledgeBase, open
    from tidelog.model.terms import IRI, BlankNode, Literal, Name, String
    from tidelog.settings import Settings

__version__ = "0.1.0"

# Where each public name lives; modules are imported when a name is first used, so that `tidelog --help` is quick.
_HOMES = {
    "answers": ("Answers", "FactAnswers"),
    "change": ("Change",),
    "errors": ("ConstraintError", "InputError", "LimitError", "ParseError", "RuleError", "TidelogError", "UsageError"),
    "knowledge_base": ("KnowledgeBase", "open"),
    "model.terms": ("BlankNode", "IRI", "Literal", "Name", "String"),
    "settings": ("Settings",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "IRI",
    "Answers",
    "BlankNode",
    "Change",
    "ConstraintError",
    "FactAnswers",
    "InputError",
    "KnowledgeBase",
    "LimitError",
    "Literal",
    "Name",
    "ParseError",
    "RuleError",
    "Settings",
    "String",
    "TidelogError",
    "UsageError",
    "open",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'tidelog' has no attribute {name!r}")
    return getattr(import_module(f"tidelog.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
