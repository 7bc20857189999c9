"""Materialisation in one call: an engine under semi-naive, or a knowledge base given text; and a change's arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from tests.oracle.histories import State
from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.semi_naive import materialise
from tidelog.algorithms.update import RuleChange, Update
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.terms import Fact, Value, to_term
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


def changed(
    engine: Engine[F], before: State, after: State, I: F | None = None, algorithm_state: object = None
) -> Update[F]:
    """A change as an algorithm takes it. I is given, or it is the model before."""
    return Update(
        engine,
        _program(before.rules, after.rules),
        engine.fact_set(after.facts),
        engine.fact_set(before.model) if I is None else I,
        engine.fact_set(before.facts - after.facts),
        engine.fact_set(after.facts - before.facts),
        Work(),
        algorithm_state,
    )


@lru_cache(maxsize=4)
def _program(before: tuple[Rule, ...], after: tuple[Rule, ...]) -> RuleChange:
    """Rules are put in order once for all who make the same change."""
    return RuleChange(before, after)
