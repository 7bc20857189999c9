"""One file per engine, each with `run(case) -> Measure`. Clocks start after imports, when the files are on disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import tidelog
from bench.case import Case, Measure


@dataclass(frozen=True)
class Engine:
    """`same_rules` is false for engines with built-in OWL 2 RL rules: they derive more, so facts are not compared."""

    name: str
    package: str
    module: str
    same_rules: bool = True

    @property
    def version(self) -> str | None:
        """The installed version; none when it is not installed."""
        try:
            return tidelog.__version__ if self.package == "tidelog" else version(self.package)
        except PackageNotFoundError:
            return None

    def run(self, case: Case) -> Measure:
        run: Callable[[Case], Measure] = import_module(f"bench.engines.{self.module}").run
        return run(case)


ENGINES = {
    engine.name: engine
    for engine in (
        Engine("tidelog", "tidelog", "on_tidelog"),
        Engine("nemo", "nemo-python", "on_nemo"),
        Engine("clingo", "clingo", "on_clingo"),
        Engine("reasonable", "reasonable", "on_reasonable", same_rules=False),
        Engine("owlrl", "owlrl", "on_owlrl", same_rules=False),
        Engine("tidelog-owl2rl", "tidelog", "on_owl2rl", same_rules=False),
        Engine("tidelog-compiled", "tidelog", "on_ontology", same_rules=False),
    )
}
