"""Materialisation in one call, for any engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.semi_naive import materialise
from tidelog.engines.local.engine import LocalEngine
from tidelog.model.facts import Fact
from tidelog.rules.strata import stratify
from tidelog.rules.syntax import Rule
from tidelog.settings import Settings

F = TypeVar("F", bound=FactSet)

# Blocks so small that joins of a few thousand rows are cut.
SMALL_BLOCKS = Settings(memory_budget=1 << 33, threads=1, block_bytes=1)


def semi_naive(engine: Engine[F], rules: Sequence[Rule], facts: Iterable[Fact]) -> frozenset[Fact]:
    return frozenset(materialise(engine, stratify(rules), engine.collect(facts), Work()))


def local_model(rules: Sequence[Rule], facts: Iterable[Fact]) -> frozenset[Fact]:
    return semi_naive(LocalEngine(SMALL_BLOCKS), rules, facts)
