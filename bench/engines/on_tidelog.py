"""tidelog itself: everything the benchmarks ask of it is in this file."""

from __future__ import annotations

import gc
from time import perf_counter

from bench.case import Case, Measure
from bench.machine import resident_bytes
from tidelog import knowledge_base
from tidelog.knowledge_base import KnowledgeBase


def run(case: Case) -> Measure:
    before = resident_bytes()
    kb = knowledge_base.open()
    measure = _close_data(kb, case) if case.data else _run_program(kb, case)
    counted = _counted(kb)
    gc.collect()
    measure.memory = {"resident": resident_bytes() - before, **counted}
    return measure


def _counted(kb: KnowledgeBase) -> dict[str, int]:
    """Bytes of the arrays of facts, explicit and all, and of the dictionary; binary runs get both orders first."""
    state = kb._state
    runs = {id(run): run for facts in (state.E, state.I) for table in facts.tables.values() for run in table.runs}
    for run in runs.values():
        if run.layout.arity == 2:
            run.in_order((1, 0))
    return {"facts": sum(run.nbytes for run in runs.values()), "terms": state.I.dictionary.nbytes}


def _close_data(kb: KnowledgeBase, case: Case) -> Measure:
    start = perf_counter()
    kb.load(case.data_path, engine="local")
    loaded = perf_counter()
    change = kb.apply(add_rules=case.program_path.read_text(), engine="local")
    facts = _counts(kb, case)
    seconds = {"load": loaded - start, "closure": perf_counter() - loaded}
    return Measure(seconds, facts, change.work.derivations, change.work.rounds)


def _run_program(kb: KnowledgeBase, case: Case) -> Measure:
    start = perf_counter()
    change = kb.load(case.program_path, engine="local")
    facts = _counts(kb, case)
    return Measure({"run": perf_counter() - start}, facts, change.work.derivations, change.work.rounds)


def _counts(kb: KnowledgeBase, case: Case) -> dict[str, int]:
    return {predicate: len(kb.facts(predicate)) for predicate in case.counted}
