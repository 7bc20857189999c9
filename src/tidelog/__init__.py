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
    from tidelog import rulesets
    from tidelog.changes.constraints import Inconsistency
    from tidelog.changes.result import Change, Difference, Prediction
    from tidelog.errors import (
        ConstraintError,
        CorruptionError,
        InputError,
        LimitError,
        LockedError,
        ParseError,
        RuleError,
        StoreError,
        TidelogError,
        UsageError,
    )
    from tidelog.explain.bulk import RuleInstances
    from tidelog.explain.render import Explanation
    from tidelog.explain.repair.proposals import Repair, Repairs
    from tidelog.explain.why_not import WhyNot
    from tidelog.explain.why_results import WhyKept, WhyRemoved
    from tidelog.knowledge_base import KnowledgeBase, open
    from tidelog.model.terms import IRI, BlankNode, Literal, Name, String
    from tidelog.owl.files import ontology
    from tidelog.queries.answers import Answers, FactAnswers
    from tidelog.queries.export import Exported
    from tidelog.queries.status import Counts, Status
    from tidelog.settings import Settings
    from tidelog.store.records import Version
    from tidelog.store.verification import Verification
    from tidelog.streams.watch import AnswerChange, Watch

__version__ = "0.1.0"

# Where each public name lives; modules are imported when a name is first used, so that `tidelog --help` is quick.
_HOMES = {
    "changes.constraints": ("Inconsistency",),
    "changes.result": (
        "Change",
        "Difference",
        "Prediction",
    ),
    "errors": (
        "ConstraintError",
        "CorruptionError",
        "InputError",
        "LimitError",
        "LockedError",
        "ParseError",
        "RuleError",
        "StoreError",
        "TidelogError",
        "UsageError",
    ),
    "explain.bulk": ("RuleInstances",),
    "explain.render": ("Explanation",),
    "explain.repair.proposals": (
        "Repair",
        "Repairs",
    ),
    "explain.why_not": ("WhyNot",),
    "explain.why_results": (
        "WhyKept",
        "WhyRemoved",
    ),
    "knowledge_base": (
        "KnowledgeBase",
        "open",
    ),
    "model.terms": (
        "BlankNode",
        "IRI",
        "Literal",
        "Name",
        "String",
    ),
    "owl.files": ("ontology",),
    "queries.answers": (
        "Answers",
        "FactAnswers",
    ),
    "queries.export": ("Exported",),
    "queries.status": (
        "Counts",
        "Status",
    ),
    "settings": ("Settings",),
    "store.records": ("Version",),
    "store.verification": ("Verification",),
    "streams.watch": (
        "AnswerChange",
        "Watch",
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "IRI",
    "AnswerChange",
    "Answers",
    "BlankNode",
    "Change",
    "ConstraintError",
    "CorruptionError",
    "Counts",
    "Difference",
    "Explanation",
    "Exported",
    "FactAnswers",
    "Inconsistency",
    "InputError",
    "KnowledgeBase",
    "LimitError",
    "Literal",
    "LockedError",
    "Name",
    "ParseError",
    "Prediction",
    "Repair",
    "Repairs",
    "RuleError",
    "RuleInstances",
    "Settings",
    "Status",
    "StoreError",
    "String",
    "TidelogError",
    "UsageError",
    "Verification",
    "Version",
    "Watch",
    "WhyKept",
    "WhyNot",
    "WhyRemoved",
    "ontology",
    "open",
    "rulesets",
]


def __getattr__(name: str) -> object:
    if name == "rulesets":
        return import_module("tidelog.rulesets")
    if name not in _HOME:
        raise AttributeError(f"module 'tidelog' has no attribute {name!r}")
    return getattr(import_module(f"tidelog.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
