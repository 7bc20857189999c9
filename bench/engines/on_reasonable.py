"""reasonable: OWL 2 RL in Rust, with its own fixed rules over the ontology."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import reasonable

from bench.case import Case, Measure
from bench.engines.kinds import by_kind


def run(case: Case) -> Measure:
    assert case.ontology is not None, f"{case.name} has no ontology"
    reasoner = reasonable.PyReasoner()
    with TemporaryDirectory() as folder:
        data = Path(folder, "data.n3")  # it reads files of this name only, and N-Triples are N3
        os.symlink(case.data_path, data)
        start = perf_counter()
        reasoner.load_file(str(Path(case.folder, case.ontology)))
        reasoner.load_file(str(data))
        loaded = perf_counter()
        triples = reasoner.reason()
        closed = perf_counter()
    return Measure({"load": loaded - start, "closure": closed - loaded}, by_kind((p, o) for _, p, o in triples))
