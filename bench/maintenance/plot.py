"""Time against the size of the change for every algorithm, on logarithmic scales."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.maintenance.contest import BASELINE, Result


@dataclass(frozen=True)
class Panel:
    title: str
    x_label: str
    x_name: str
    rows: Sequence[Result]

    def curves(self) -> Iterator[tuple[str, list[tuple[int, float]]]]:
        for name in self.rows[0]["algorithms"]:
            runs = [(row[self.x_name], row["algorithms"][name]) for row in self.rows]
            points = [(x, run["seconds"]) for x, run in runs if "seconds" in run]
            if points:
                yield name, points


def panels(result: Result) -> Iterator[Panel]:
    for name, size in result["sizes"].items():
        if "removals" in size:
            yield Panel(name, "explicit facts removed", "removed", size["removals"])
        for scenario in dict.fromkeys(row["scenario"] for row in size.get("cliques", ())):
            rows = [row for row in size["cliques"] if row["scenario"] == scenario]
            yield Panel(f"{name}, {scenario}", "constants of the clique", "constants", rows)


def plot(result: Result, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = list(panels(result))
    figure, grid = pyplot.subplots(max(1, len(shown)), squeeze=False, figsize=(8, 4 * max(1, len(shown))))
    for axes, panel in zip(grid[:, 0], shown, strict=False):
        _draw(axes, panel)
    figure.tight_layout()
    figure.savefig(path, dpi=120, metadata={"Software": None})
    pyplot.close(figure)


def _draw(axes: Any, panel: Panel) -> None:
    """The baseline is dashed; an algorithm has the same colour in every panel."""
    from tidelog.algorithms.registry import ALGORITHMS

    colours = {name: f"C{number}" for number, name in enumerate(ALGORITHMS)}
    for name, points in panel.curves():
        style = "--" if name == BASELINE else "-"
        axes.plot(*zip(*points, strict=True), style, marker=".", color=colours.get(name), label=name)
    axes.set(xscale="log", yscale="log", title=panel.title, xlabel=panel.x_label, ylabel="seconds")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))  # beside the lines, not on them
