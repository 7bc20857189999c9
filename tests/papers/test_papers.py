"""The papers' own examples, on every algorithm and engine, with the sets and numbers that the papers print."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.oracle.ways import facts_of
from tests.papers.case import CHANGE, Case, cases
from tests.papers.sets import SEEN, SETS, Sets, sets_of
from tidelog.algebra.engine import Work
from tidelog.algorithms.layers import Program
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.reference.engine import ReferenceEngine
from tidelog.engines.reference.model import least_model
from tidelog.errors import TidelogError
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.facts import Fact

CASES = cases()
TOLD = [pytest.param(c, a, id=f"{c}-{a}") for c in CASES for a in c.algorithms]

Result = tuple[frozenset[Fact], frozenset[Fact], frozenset[Fact], Work]  # all, added, removed


def on_knowledge_base(case: Case, algorithm: str) -> Result:
    text = case.sections.get
    with KnowledgeBase() as kb:
        kb.apply(add=text("facts"), add_rules=text("rules"))
        change = kb.apply(text("add"), text("remove"), text("add rules"), text("remove rules"), algorithm)
        return facts_of(kb.all_facts()), facts_of(change.added), facts_of(change.removed), change.work


def on_reference(case: Case, algorithm: str) -> Result:
    engine, work = ReferenceEngine(), Work()
    before, after = Program((), case.rules("rules")), rules_after(case)
    E = (case.facts("facts") - case.facts("remove")) | case.facts("add")
    outcome = ALGORITHMS[algorithm](
        engine,
        Program(before.after, after.after),
        engine.collect(E),
        engine.collect(model_before(case)),
        engine.collect(case.facts("facts") - E),
        engine.collect(E - case.facts("facts")),
        work,
    )
    return frozenset(outcome.I), frozenset(outcome.added), frozenset(outcome.removed), work
