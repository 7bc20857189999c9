"""Materialisation in one call: an engine under semi-naive, or a knowledge base given text; and a change's arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from tests.oracle.histories import State
from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.layers import Program
from tidelog.algorithms.semi_naive import materialise
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.facts import Fact
from tidelog.model.terms import Value, to_term
from tidelog.rules.analysis.strata import stratify
from tidelog.rules.syntax import Rule
from tidelog.settings import Settings

F = TypeVar("F", bound=FactSet)

# Blocks so small that joins of a few thousand rows are cut.
SMALL_BLOCKS = Settings(memory_budget=1 << 33, threads=1, block_bytes=1)


def semi_naive(engine: Engine[F], rules: Sequence[Rule], facts: Iterable[Fact], work: Work) -> frozenset[Fact]:
    return frozenset(materialise(engine, stratify(rules), engine.fact_set(facts), work))


def knowledge_base_model(rule_text: str, fact_text: str) -> frozenset[Fact]:
    """Through the parser and the public interface, back from what users see."""
    with KnowledgeBase() as kb:
        kb.apply(add=fact_text, add_rules=rule_text)
        return facts_of(kb.all_facts())


def facts_of(rows: Iterable[tuple[Value, ...]]) -> frozenset[Fact]:
    """Rows `(predicate, argument, …)` as facts."""
    return frozenset(Fact(str(row[0]), tuple(map(to_term, row[1:]))) for row in rows)


def changed(engine: Engine[F], before: State, after: State, I: F | None = None) -> tuple[Program, F, F, F, F]:
    """A change as an algorithm takes it: program, E, I, removed, added. I is given, or it is the model before."""
    return (
        _program(before.rules, after.rules),
        engine.fact_set(after.facts),
        engine.fact_set(before.model) if I is None else I,
        engine.fact_set(before.facts - after.facts),
        engine.fact_set(after.facts - before.facts),
    )


@lru_cache(maxsize=4)
def _program(before: tuple[Rule, ...], after: tuple[Rule, ...]) -> Program:
    """Rules are put in order once for all who make the same change."""
    return Program(before, after)
