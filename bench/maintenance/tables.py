"""The tables of the maintenance report. A row is a change; in most of them a column is an algorithm."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bench.maintenance import paper
from bench.maintenance.contest import BASELINE, Result
from bench.report import table

NO_RESULT = "—"
Row = tuple[str, ...]


@dataclass(frozen=True)
class Labels:
    """The columns that say which change a row is about."""

    columns: Row
    of: Callable[[Result], Row]


def count(number: int) -> str:
    return f"{number:,}"


def short(number: float) -> str:
    """As the paper prints its counters: 999, 23.0k, 1.5M, 2.1G."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"


def clock(seconds: float) -> str:
    return f"{seconds:.4f}" if seconds < 1 else f"{seconds:.2f}"


def ratio(one: float, other: float) -> str:
    """1/50 when it is that small, 3.1 × when it is large."""
    return f"{one / other:.1f} ×" if one > other / 1.5 else f"1/{other / one:.1f}"


def rule_text(text: str) -> str:
    """A rule with the local names of its IRIs, safe within a table."""
    return "`" + re.sub(r"<[^<>]*[#/]([^<>#/]+)>", r"\1", text).replace("|", "\\|") + "`"


REMOVED = Labels(("facts removed", "facts lost"), lambda row: (count(row["removed"]), count(row["lost"])))
RULES = Labels(
    ("rule", "facts derived", "facts lost"),
    lambda row: (rule_text(row["rule"]), count(row["support"]), count(row["lost"])),
)
CLIQUES = Labels(
    ("constants", "clique", "facts", "facts lost"),
    lambda row: (count(row["constants"]), row["scenario"], count(row["facts"]), count(row["lost"])),
)


def _side_by_side(rows: Sequence[Result], labels: Labels, cell: Callable[[Result, Result], str]) -> str:
    """One column for each algorithm that has a result anywhere; a cell sees the run and that of the baseline."""
    names = [n for n in rows[0]["algorithms"] if any("seconds" in row["algorithms"][n] for row in rows)]

    def cells(row: Result) -> Iterator[str]:
        runs = row["algorithms"]
        yield from (cell(runs[n], runs[BASELINE]) if "seconds" in runs[n] else NO_RESULT for n in names)

    return table((*labels.columns, *names), ((*labels.of(row), *cells(row)) for row in rows))


def seconds(rows: Sequence[Result], labels: Labels) -> str:
    return _side_by_side(rows, labels, _against_baseline)


def _against_baseline(run: Result, baseline: Result) -> str:
    own = clock(run["seconds"])
    if run is baseline or "seconds" not in baseline:
        return own
    return f"{own} ({ratio(run['seconds'], baseline['seconds'])})"


def seconds_back(rows: Sequence[Result], labels: Labels) -> str:
    return _side_by_side(rows, labels, lambda run, _: _against_removing(run["back"]["seconds"], run["seconds"]))


def _against_removing(adding: float, removing: float) -> str:
    return f"{clock(adding)} ({ratio(adding, removing)})"


def derivations(rows: Sequence[Result], labels: Labels) -> str:
    return _side_by_side(rows, labels, lambda run, _: short(run["derivations"]))


def as_in_the_paper(rows: Sequence[Result]) -> str:
    columns = ("&#124;E⁻&#124;", "&#124;I \\ I′&#124;", "rematerialise s", "derivations", "DRed s")
    return table((*columns, *heads(paper.OF_DRED), "B/F s", *heads(paper.OF_BF)), map(_paper_row, rows))


def heads(counters: Iterable[str]) -> Row:
    """Sizes of sets between bars, as entities: a bar would end the cell."""
    return tuple(f"&#124;{name}&#124;" if len(name) == 1 else name for name in counters)


def _paper_row(row: Result) -> Row:
    runs = row["algorithms"]
    return (
        *REMOVED.of(row),
        *_timed(runs[BASELINE], lambda run: [run["derivations"]], 1),
        *_timed(runs["dred"], lambda run: _counters(run, paper.OF_DRED), 4),
        *_timed(runs["bf"], lambda run: _counters(run, paper.OF_BF), 4),
    )


def _timed(run: Result, numbers: Callable[[Result], Iterable[float]], width: int) -> Row:
    if "seconds" not in run:
        return (NO_RESULT,) * (width + 1)
    return (clock(run["seconds"]), *map(short, numbers(run)))


def _counters(run: Result, names: Iterable[str]) -> list[float]:
    return [run["counters"].get(name, 0) for name in names]


def beside_the_paper(size: Result) -> str:
    columns = ("facts removed", "paper's row", *heads(paper.COUNTERS))
    return table(columns, (tuple(_compared(row, size["explicit"])) for row in size["removals"]))


def _compared(row: Result, explicit: int) -> Iterator[str]:
    removed = row["removed"]
    published = paper.nearest_row(removed, explicit)
    theirs = paper.per_fact(published)
    yield f"{count(removed)} ({removed / explicit:.1%})"
    yield f"{short(published)} ({published / paper.EXPLICIT:.1%})"
    for algorithm, names in (("dred", paper.OF_DRED), ("bf", paper.OF_BF)):
        run = row["algorithms"][algorithm]
        for name in names:
            own = run["counters"].get(name, 0) / removed if "seconds" in run else None
            yield NO_RESULT if own is None else f"{own:.1f} : {theirs[name]:.1f} ({own / theirs[name]:.1f} ×)"


def single(results: Result) -> str:
    columns = ("algorithm", "changes", "remove p50", "remove p99", "add p50", "add p99")
    return table(columns, ((name, *_percentiles(run)) for name, run in results.items() if "skipped" not in run))


def _percentiles(run: Result) -> Iterator[str]:
    yield count(run["changes"])
    for kind in ("remove", "add"):
        yield from (f"{1000 * run[kind][p]:.1f}" for p in ("p50", "p99"))
