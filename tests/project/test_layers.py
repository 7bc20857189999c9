"""Each component imports only what ARCHITECTURE.md allows: those below it, never above or sideways."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "tidelog"

BOTTOM = ("errors", "model", "settings", "java")
ENGINE = (*BOTTOM, "rules", "algebra", "kernel", "dictionary")
MIDDLE = (*ENGINE, "algorithms", "formats", "answers")

# Component -> what it may import. A dotted name allows that one module only.
ALLOWED: dict[str, tuple[str, ...]] = {
    "errors": (),
    "java": (),
    "model": ("errors",),
    "settings": ("errors",),
    "rules": BOTTOM,
    "algebra": (*BOTTOM, "rules"),
    "kernel": BOTTOM,
    "dictionary": (*BOTTOM, "kernel"),
    "formats": (*BOTTOM, "rules", "dictionary"),
    "languages": (*BOTTOM, "rules"),
    "owl": (*BOTTOM, "rules"),
    "generate": BOTTOM,
    "algorithms": (*BOTTOM, "rules", "algebra"),
    "equality": (*BOTTOM, "rules", "algebra", "algorithms"),
    "engines.reference": (*BOTTOM, "rules", "algebra"),
    "engines.local": ENGINE,
    "engines.spark": (*ENGINE, "engines.local"),
    # LocalFacts is the form facts have in memory; the store brings them there and back.
    "store": (*ENGINE, "engines.local.fact_set", "engines.local.relations"),
    "answers": ENGINE,
    "change": MIDDLE,
    "state": (*MIDDLE, "store", "engines.local.fact_set"),
    "commit": (*MIDDLE, "store", "state", "change"),
    "status": ("state", "store", "engines.local.fact_set"),
    "export": MIDDLE,
    "choose": MIDDLE,
    "constraints": MIDDLE,
    "inconsistencies": MIDDLE,
    "rulesets": (*BOTTOM, "rules"),
    "inputs": (*MIDDLE, "languages"),
    "attempt": (*MIDDLE, "equality", "store", "state", "change", "choose", "constraints", "inputs", "engines.local"),
    "manner": (*BOTTOM, "formats"),
    "pipeline": (
        *MIDDLE,
        "manner",
        "equality",
        "store",
        "state",
        "attempt",
        "commit",
        "change",
        "inputs",
        "manner",
        "engines.local",
        "engines.spark",
    ),
    "past": (*MIDDLE, "equality", "store", "state", "change", "engines.local"),
    "explain": (*MIDDLE, "equality", "store", "state", "past", "engines.local", "engines.reference"),
    "repair": (*MIDDLE, "change", "explain"),
    "prediction": (*MIDDLE, "change", "engines.local"),
    "queries": (*MIDDLE, "equality", "state", "engines.local"),
    "sparql": (*MIDDLE, "equality", "state", "attempt", "inputs", "engines.local"),
    "spark": (
        *MIDDLE,
        "equality",
        "store",
        "state",
        "past",
        "export",
        "queries",
        "explain",
        "engines.local",
        "engines.spark",
    ),
    "knowledge_base": (
        *MIDDLE,
        "manner",
        "pipeline",
        "choose",
        "spark",
        "equality",
        "store",
        "state",
        "attempt",
        "commit",
        "past",
        "change",
        "export",
        "inconsistencies",
        "inputs",
        "explain",
        "prediction",
        "queries",
        "repair",
        "sparql",
        "status",
        "engines.local",
    ),
    "ontologies": (*MIDDLE, "inputs", "owl"),
    "pending": (*BOTTOM, "attempt", "inputs", "knowledge_base", "engines.local", "state"),
    "rdflib_store": (*MIDDLE, "", "equality", "knowledge_base", "pending", "queries", "sparql"),
    "program": (*MIDDLE, "inputs", "knowledge_base"),
    "": (
        *BOTTOM,
        "answers",
        "change",
        "explain",
        "export",
        "inconsistencies",
        "knowledge_base",
        "ontologies",
        "program",
        "repair",
        "rules",
        "rulesets",
        "status",
        "store",
    ),
    "cli": (
        *BOTTOM,
        "",
        "rules",
        "rulesets",
        "formats",
        "inputs",
        "answers",
        "change",
        "choose",
        "knowledge_base",
        "program",
        "repair",
        "generate",
        "sparql",
        "status",
        "store.records",
        "store.verification",
    ),
}
COLUMNS = ("numpy", "pyarrow", "pandas")
# Other libraries that are not of the standard library, and who may import them.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "kernel": COLUMNS,
    "dictionary": COLUMNS,
    "formats": (*COLUMNS, "pyoxigraph", "rdflib"),
    "generate": COLUMNS,
    "engines.local": COLUMNS,
    "engines.spark": (*COLUMNS, "pyspark"),
    "pipeline": (*COLUMNS, "pyspark"),
    "answers": COLUMNS,
    "knowledge_base": ("rdflib", "pyspark"),  # their types
    "spark": (*COLUMNS, "pyspark"),
    "rdflib_store": ("rdflib",),
    "explain": COLUMNS,
    "sparql": (*COLUMNS, "rdflib"),
    "store": COLUMNS,
}
RESTRICTED = {*COLUMNS, "pyoxigraph", "rdflib", "pyspark", "numba"}


def component(module: str) -> str:
    """`engines.local.solve` belongs to `engines.local`, `rules.parser` to `rules`, the package itself to ''."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "engines" and len(parts) > 1 else parts[0]


def imported(source: str, module: str) -> Iterator[str]:
    """Every module that a source text imports, at the top or inside functions, also for type checking."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative imports hide where a name comes from"
            assert node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def violations(module: str, source: str) -> list[str]:
    own = component(module)
    return [f"{own or 'tidelog'} imports {name}" for name in imported(source, module) if not _may(own, name)]


def _may(own: str, name: str) -> bool:
    top, _, inside = name.partition(".")
    if top != "tidelog":
        return top not in RESTRICTED or top in LIBRARIES.get(own, ())
    target = component(inside)
    if not _is_component(target):
        target = ""  # a name that the package itself offers
    return target == own or any(inside == a or target == a or (a and inside.startswith(f"{a}.")) for a in ALLOWED[own])


def _is_component(target: str) -> bool:
    path = PACKAGE / target.replace(".", "/")
    return bool(target) and (path.is_dir() or path.with_suffix(".py").is_file())


def modules() -> dict[str, Path]:
    names = {path: ".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in PACKAGE.rglob("*.py")}
    return {name.removesuffix("__init__").rstrip("."): path for path, name in names.items()}


def test_every_component_is_in_the_table() -> None:
    assert {component(module) for module in modules()} - {"engines"} == set(ALLOWED)


@pytest.mark.parametrize("module", sorted(modules()))
def test_imports_stay_within_the_layers(module: str) -> None:
    if module != "engines":
        assert violations(module, modules()[module].read_text(encoding="utf-8")) == []


PLANTED = [
    ("algorithms.dred", "import numpy as np"),
    ("algebra.engine", "def f():\n    import pyarrow"),
    ("rules.parser", "from pyspark.sql import SparkSession"),
    ("engines.local.solve", "from tidelog.algorithms.semi_naive import insert"),
    ("engines.local.solve", "from tidelog.engines.reference import engine"),
    ("engines.reference.engine", "import tidelog.engines.local.engine"),
    ("engines.local.engine", "from tidelog.formats import read"),
    ("algorithms.semi_naive", "from tidelog.engines.local.engine import LocalEngine"),
    ("model.terms", "from tidelog.rules.syntax import Rule"),
    ("rules.parser", "from tidelog import formats"),
    ("knowledge_base", "import numpy"),
    ("knowledge_base", "from tidelog.cli import main"),
    ("kernel.join", "from tidelog.algebra import fixpoint"),
    ("formats.csv", "from tidelog import open"),
]


@pytest.mark.parametrize(("module", "source"), PLANTED)
def test_a_planted_violation_is_seen(module: str, source: str) -> None:
    assert len(violations(module, source)) == 1


PERMITTED = [
    ("algorithms.semi_naive", "from tidelog.algebra.engine import Engine"),
    ("engines.local.solve", "from tidelog.engines.local.heads import heads\nimport numpy"),
    ("cli.run", "from tidelog import __version__\nfrom tidelog.program import run"),
]


@pytest.mark.parametrize(("module", "source"), PERMITTED)
def test_what_the_layers_allow_passes(module: str, source: str) -> None:
    assert violations(module, source) == []
