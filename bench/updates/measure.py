"""Each update removed and added again by each algorithm, on universities closed under the paper's rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.case import Case
from bench.maintenance.contest import Contest, Result, Say
from bench.maintenance.group import Size
from bench.maintenance.subject import Step, Subject
from bench.measure import Limits, MeasurementError
from bench.updates.changes import Update, beforehand, updates
from bench.workloads import NAMED, prepare
from tidelog import knowledge_base, rulesets

NAME = "updates"
ALGORITHMS = ("bf", "dred", "dred+bf", "counting", "recursive-counting")


def opened(case: Case, found: list[Update]) -> Subject:
    assert case.ontology is not None
    kb = knowledge_base.open()
    kb.load(case.data_path, Path(case.folder, case.ontology), engine="local")
    kb.apply(add=beforehand(found), engine="local")
    return Subject(kb, kb.apply(add_rules=rulesets.RHODF, engine="local"))


def measure(subject: Subject, found: list[Update], limits: Limits, say: Say) -> Result:
    rows = []
    for update in (u for u in found if u.facts):
        say(f"  update {update.number}: {update.title}, {len(update.facts):,} triples")
        rows.append(_measured(subject, update, limits, say))
    return {
        "explicit": subject.explicit,
        "facts": subject.facts,
        "closure": {"seconds": subject.closure.seconds, "derivations": subject.closure.work.derivations},
        "counting": subject.counting,
        "updates": rows,
    }


def _measured(subject: Subject, update: Update, limits: Limits, say: Say) -> Result:
    """In the order of the contest: the facts removed and added again, or new ones added and removed again."""
    facts = subject.collect(update.facts)
    step = Step(subject.nothing, facts) if update.new else Step(facts, subject.nothing)
    row: Result = {"update": update.number, "title": update.title, "triples": len(facts)}
    try:
        lost, algorithms = Contest(ALGORITHMS, limits, say).run(subject, step)
    except MeasurementError as failure:
        return {**row, "failed": str(failure)}
    changed = subject.change("bf", subject.start, step).outcome.added if update.new else lost
    first, second = ("add", "remove") if update.new else ("remove", "add")
    return {**row, "changed": len(changed), "algorithms": {n: _named(r, first, second) for n, r in algorithms.items()}}


def _named(run: Result, first: str, second: str) -> Result:
    if "seconds" not in run:
        return run
    return {first: {k: v for k, v in run.items() if k != "back"}, second: run["back"]}


def _universities(count: int) -> Callable[[Path, Limits, Say], Result]:
    def run(data: Path, limits: Limits, say: Say) -> Result:
        case = prepare(NAMED[f"lubm-{count}"], data)
        found = updates(case.data_path, count)
        return measure(opened(case, found), found, limits, say)

    return run


SIZES = (
    Size(f"{NAME}-1", "1 university", _universities(1), quick=True, full=False),
    Size(f"{NAME}-10", "10 universities", _universities(10)),
    Size(f"{NAME}-100", "100 universities", _universities(100)),
)
NAMES = {size.name: size for size in SIZES}
