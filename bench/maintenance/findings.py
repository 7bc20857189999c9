"""What the numbers of a maintenance run say, in sentences made from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.maintenance.contest import BASELINE, OUT, Result
from bench.maintenance.equilibrium import Equilibrium, equilibrium
from bench.maintenance.table2 import COUNTS
from bench.maintenance.tables import REMOVED, Labels, clock, count, ratio, short


def setting(size: Result) -> str:
    closure = size["closure"]
    return (
        f"{count(size['explicit'])} explicit facts, {count(size['facts'])} facts in all; first materialisation in "
        f"{clock(closure['seconds'])} s with {short(closure['derivations'])} derivations."
    )


def of_removals(size: Result) -> Iterator[str]:
    yield from _ratios(size["removals"])
    yield from _equilibria(size)
    yield from _adding(size["removals"])
    yield from _rules(size["rules"])
    for name, seconds in size["counting"].items():
        yield f"- {name} first computed its counts, in {clock(seconds)} s; its times below do not include this."
    yield from without_result(size["removals"], REMOVED)


def _pairs(rows: Sequence[Result], name: str) -> Iterator[tuple[Result, float, float]]:
    """The changes that both an algorithm and rematerialising made, and their times."""
    for row in rows:
        run, baseline = row["algorithms"][name], row["algorithms"][BASELINE]
        if "seconds" in run and "seconds" in baseline:
            yield row, run["seconds"], baseline["seconds"]


def _ratios(rows: Sequence[Result]) -> Iterator[str]:
    for row, own, baseline in _pairs(rows, "bf"):
        if row["removed"] in COUNTS:
            yield f"- Removing {count(row['removed'])} facts by bf takes {_part(own, baseline)} of rematerialising."


def _part(one: float, other: float) -> str:
    text = ratio(one, other)
    return f"{text} of the time" if text.startswith("1/") else text.replace("×", "times the time")


def _equilibria(size: Result) -> Iterator[str]:
    for name in size["removals"][0]["algorithms"]:
        points = [(row["removed"], own / baseline) for row, own, baseline in _pairs(size["removals"], name)]
        found = equilibrium(points)
        if found and name != BASELINE:
            yield f"- {name} takes as long as rematerialising {_where(found, size['explicit'])}."


def _where(found: Equilibrium, explicit: int) -> str:
    place = f"{count(round(found.removed))} removed facts, {found.removed / explicit:.2%} of the explicit ones"
    return {"at": f"at {place}", "above": f"beyond {place}, the most it finished", "below": f"below {place}"}[
        found.bound
    ]


def _adding(rows: Sequence[Result]) -> Iterator[str]:
    """The worst ratio of adding to removing, by algorithm."""
    for name in rows[0]["algorithms"]:
        runs = [row["algorithms"][name] for row in rows if "seconds" in row["algorithms"][name]]
        if runs and name != BASELINE:
            worst = max(runs, key=lambda run: run["back"]["seconds"] / run["seconds"])
            yield f"- Adding by {name} takes at most {_part(worst['back']['seconds'], worst['seconds'])} of removing."


def _rules(rows: Sequence[Result]) -> Iterator[str]:
    times = [(own, baseline) for _, own, baseline in _pairs(rows, "bf")]
    if times:
        worst = max(times, key=lambda pair: pair[0] / pair[1])
        yield f"- Removing a rule by bf takes at most {_part(*worst)} of rematerialising."


def without_result(rows: Sequence[Result], labels: Labels) -> Iterator[str]:
    """Each algorithm that gave no result, why, and at which change."""
    for row in rows:
        change = ", ".join(f"{column} {cell}" for column, cell in zip(labels.columns[:2], labels.of(row), strict=False))
        for name, run in row["algorithms"].items():
            if run.get("skipped", OUT) != OUT:
                yield f"- {name} gave no result for this and larger changes: {change}. {run['skipped'].capitalize()}."
