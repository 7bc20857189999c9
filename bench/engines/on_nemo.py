"""Nemo, through its Python package. Reading and reasoning are one step there; counting its results is not timed."""

from __future__ import annotations

import os
from time import perf_counter

import nmo_python

from bench.case import Case, Measure
from bench.dialects import nemo_rules
from tidelog.rules.parsing.parser import parse_rules


def run(case: Case) -> Measure:
    os.chdir(case.folder)  # Nemo looks for imports in the current folder
    text = _rdf_program(case) if case.data else case.program_path.read_text()
    start = perf_counter()
    engine = nmo_python.NemoEngine(nmo_python.load_string(text))
    engine.reason()
    seconds = perf_counter() - start
    return Measure({"run": seconds}, {p: sum(1 for _ in engine.result(p)) for p in case.counted})


def _rdf_program(case: Case) -> str:
    rules = nemo_rules(parse_rules(case.program_path.read_text()))
    return f'@import triple :- ntriples{{resource="{case.data}"}} .\n{rules}@output triple .\n'
