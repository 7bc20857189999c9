"""Tables and a plot from the JSON of a run. All numbers in the documentation are written this way."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.engines import ENGINES

Result = dict[str, Any]

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
MANY = 1_000_000  # with fewer facts, the memory of the libraries hides that of the facts
COLUMNS = (
    "workload",
    "engine",
    "load s",
    "closure s",
    "total s",
    "times tidelog's",
    "facts",
    "derivations/s",
    "peak MB",
)


def write(result: Result, folder: Path, name: str) -> None:
    """Write `name.json`, `name.md` and `name.png` in the folder."""
    write_result(result, folder, name, markdown(result))
    plot(result, folder / f"{name}.png")


def write_result(result: Result, folder: Path, name: str, page: str) -> None:
    """Write `name.json`, and `page` as `name.md`, in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / f"{name}.md").write_text(page)


def publish(source: Path, docs: Path) -> None:
    """Rewrite the generated parts of `benchmarks.md` and README.md, and write the data and the plot to `docs`."""
    result = json.loads(source.read_text())
    fill(docs / "benchmarks.md", f"{markdown(result)}\n![seconds by engine](benchmarks.png)\n")
    fill(docs.parent / "README.md", "\n".join(_ratios(result)) + "\n")
    shutil.copyfile(source, docs / "benchmarks.json")
    plot(result, docs / "benchmarks.png")


def fill(page: Path, text: str) -> None:
    """Replace the text between the two markers of a page."""
    head, begin, rest = page.read_text().partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} needs a line {BEGIN} and, after it, a line {END}")
    page.write_text(f"{head}{BEGIN}\n\n{text}\n{END}{tail}")


def markdown(result: Result) -> str:
    parts = [
        machine_line(result),
        table(COLUMNS, engine_rows(result)),
        "\n".join(_ratios(result)),
        "\n".join(_memory(result)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def machine_line(result: Result) -> str:
    m = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items() if version)
    return (
        f"Commit {m['commit']} on {m['cpu']}, {m['cores']} cores, {m['memory_gb']} GB, {m['system']}, "
        f"Python {m['python']}, numpy {m['numpy']}; {versions}. Load average at the start: {m['load_average']}."
    )


def table(columns: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    rule = "|".join(["---", "---"] + ["---:"] * (len(columns) - 2))
    return "\n".join([f"| {' | '.join(columns)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)])


def engine_rows(result: Result, own_engine: str = "tidelog") -> Iterator[tuple[str, ...]]:
    """One row for each engine of each workload."""
    for name, workload in result["workloads"].items():
        own = workload["engines"].get(own_engine, {}).get("total")
        for engine, run in workload["engines"].items():
            if "skipped" in run:
                yield (name, engine, *[""] * 2, run["skipped"], *[""] * 4)
            else:
                yield (name, engine, *_cells(run, own, ENGINES[engine].same_rules))


def _cells(run: Result, own: float | None, same_rules: bool) -> tuple[str, ...]:
    seconds = run["seconds"]
    closing = seconds.get("closure", run["total"])
    return (
        *(f"{seconds[phase]:.2f}" if phase in seconds else "" for phase in ("load", "closure")),
        f"{run['total']:.2f}",
        f"{run['total'] / own:.1f} ×" if own else "",
        f"{sum(run['facts'].values()):,}" + ("" if same_rules else " (OWL 2 RL)"),
        f"{run['derivations'] / closing / 1e6:.1f} M" if run["derivations"] else "",
        f"{run['peak_bytes'] / 2**20:,.0f}",
    )


def _ratios(result: Result) -> Iterator[str]:
    """Compare total and closure time with Nemo's total time. Nemo reports no time for the closure alone."""
    for name, workload in result["workloads"].items():
        own, nemo = (workload["engines"].get(engine, {}) for engine in ("tidelog", "nemo"))
        if "total" not in own or "total" not in nemo:
            continue
        closure = own["seconds"].get("closure")
        from_facts = f"; closure from loaded facts: {nemo['total'] / closure:.1f} times" if closure else ""
        yield f"- {name}: tidelog is {nemo['total'] / own['total']:.1f} times as fast as Nemo{from_facts}."


def _memory(result: Result) -> Iterator[str]:
    for name, workload in result["workloads"].items():
        run = workload["engines"].get("tidelog", {})
        facts = sum(run.get("facts", {}).values())
        if facts >= MANY and run["memory"]:
            figures = ", ".join(f"{kind} {count / facts:.1f}" for kind, count in run["memory"].items())
            yield f"- {name}: bytes per fact of the open knowledge base: {figures}."


def plot(result: Result, path: Path) -> None:
    """Seconds from files to closure, one group of bars per workload, on a logarithmic scale."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    workloads = result["workloads"]
    figure, axes = pyplot.subplots(figsize=(8, 0.6 + 0.9 * len(workloads)))
    for offset, engine in enumerate(e for e in ENGINES if any(_ran(w, e) for w in workloads.values())):
        bars = [(i, w["engines"][engine]["total"]) for i, w in enumerate(workloads.values()) if _ran(w, engine)]
        axes.barh([i + 0.16 * (offset - 2) for i, _ in bars], [s for _, s in bars], height=0.16, label=engine)
    axes.set(
        xscale="log", xlabel="seconds, files to closure", yticks=range(len(workloads)), yticklabels=list(workloads)
    )
    axes.invert_yaxis()
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120, metadata={"Software": None})
    pyplot.close(figure)


def _ran(workload: Result, engine: str) -> bool:
    return "total" in workload["engines"].get(engine, {})
