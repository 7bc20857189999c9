"""Materialisation in one call, at every level: an engine under semi-naive, or a knowledge base given text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.semi_naive import materialise
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.facts import Fact
from tidelog.model.terms import to_term
from tidelog.rules.strata import stratify
from tidelog.rules.syntax import Rule
from tidelog.settings import Settings

F = TypeVar("F", bound=FactSet)

# Blocks so small that joins of a few thousand rows are cut.
SMALL_BLOCKS = Settings(memory_budget=1 << 33, threads=1, block_bytes=1)


def semi_naive(engine: Engine[F], rules: Sequence[Rule], facts: Iterable[Fact], work: Work) -> frozenset[Fact]:
    return frozenset(materialise(engine, stratify(rules), engine.collect(facts), work))


def knowledge_base_model(rule_text: str, fact_text: str) -> frozenset[Fact]:
    """Through the parser and the public interface, back from what users see."""
    with KnowledgeBase() as kb:
        kb.apply(add=fact_text, add_rules=rule_text)
        return frozenset(Fact(str(row[0]), tuple(map(to_term, row[1:]))) for row in kb.all_facts())
