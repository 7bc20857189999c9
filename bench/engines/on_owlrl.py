"""owlrl: OWL 2 RL in Python on rdflib, with its own fixed rules over the ontology."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import owlrl
import rdflib

from bench.case import Case, Measure
from bench.engines.kinds import by_kind


def run(case: Case) -> Measure:
    assert case.ontology is not None, f"{case.name} has no ontology"
    graph = rdflib.Graph()
    start = perf_counter()
    graph.parse(Path(case.folder, case.ontology), format="turtle")
    graph.parse(case.data_path, format="nt")
    loaded = perf_counter()
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    closed = perf_counter()
    return Measure({"load": loaded - start, "closure": closed - loaded}, by_kind((p, o) for _, p, o in graph))
