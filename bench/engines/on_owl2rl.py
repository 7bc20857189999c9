"""tidelog with OWL 2 RL's rules as the W3C lists them, over ontology and data alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import pyarrow.compute as pc

import tidelog
from bench.case import Case, Measure
from bench.engines.kinds import TYPE, by_kind_counted
from tidelog.knowledge_base import KnowledgeBase


def run(case: Case) -> Measure:
    return closed(case, lambda _: tidelog.rulesets.OWL2RL)


def closed(case: Case, rules: Callable[[Path], object]) -> Measure:
    """Files to closure. `rules` are made from the ontology's file within the time of the closure."""
    assert case.ontology is not None, f"{case.name} has no ontology"
    ontology = Path(case.folder, case.ontology)
    kb = tidelog.open()
    start = perf_counter()
    kb.load(ontology, case.data_path, engine="local")
    loaded = perf_counter()
    change = kb.apply(add_rules=rules(ontology), engine="local")
    len(kb.facts("triple"))
    seconds = {"load": loaded - start, "closure": perf_counter() - loaded}
    return Measure(seconds, _kinds(kb), change.work.derivations, change.work.rounds)


def _kinds(kb: KnowledgeBase) -> dict[str, int]:
    table = kb.facts("triple").to_arrow()
    is_type = pc.equal(table["predicate"], TYPE)
    counts = [((p, ""), n) for p, n in _counted(table["predicate"]) if p != TYPE]
    counts += [((TYPE, c), n) for c, n in _counted(table["object"].filter(is_type))]
    return by_kind_counted(counts)


def _counted(column: object) -> list[tuple[str, int]]:
    return [(pair["values"], pair["counts"]) for pair in pc.value_counts(column).to_pylist()]
