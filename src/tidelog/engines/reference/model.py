"""The stratified least model by the book: apply every rule of a stratum to everything until nothing is new."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidelog.algebra.engine import Work
from tidelog.algebra.extended import over
from tidelog.engines.reference.engine import ReferenceEngine
from tidelog.engines.reference.fact_set import ReferenceFacts
from tidelog.model.facts import Fact
from tidelog.rules.strata import Stratum, stratify
from tidelog.rules.syntax import Rule


def least_model(rules: Sequence[Rule], facts: Iterable[Fact]) -> frozenset[Fact]:
    """Every fact that follows, the given ones included."""
    return model_of(stratify(rules), facts)


def model_of(strata: Iterable[Stratum], facts: Iterable[Fact]) -> frozenset[Fact]:
    """The least model of rules that are in order already."""
    model = ReferenceFacts(facts)
    for stratum in strata:
        model = _saturate(stratum.rules, model)
    return frozenset(model)


def _saturate(rules: Sequence[Rule], facts: ReferenceFacts) -> ReferenceFacts:
    while new := ReferenceEngine().derive([over(rule, facts) for rule in rules], Work()) - facts:
        facts = facts | new
    return facts
