"""tidelog with the rules that it compiles from the ontology (Description Logic Programs)."""

from __future__ import annotations

import tidelog
from bench.case import Case, Measure
from bench.engines.on_owl2rl import closed


def run(case: Case) -> Measure:
    return closed(case, tidelog.ontology)
