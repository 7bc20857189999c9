"""Each component imports only what ARCHITECTURE.md allows: those below it, never above or sideways."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "tidelog"

BOTTOM = ("errors", "model", "settings", "tuning")
ENGINE = (*BOTTOM, "values", "rules", "algebra", "kernel", "dictionary")
MIDDLE = (*ENGINE, "algorithms", "formats", "queries.answers", "queries.notebook")
STATE = (*MIDDLE, "algorithms.equality", "store", "engines.local")
SPARK = ("engines.spark.cluster", "engines.spark.sharded")

# Component -> what it may import. A dotted name below a component allows that one module only.
ALLOWED: dict[str, tuple[str, ...]] = {
    "errors": (),
    "model": ("errors",),
    "settings": ("errors",),
    "tuning": (),
    "values": BOTTOM,
    "rules": (*BOTTOM, "values"),
    "rulesets": (*BOTTOM, "rules"),
    "algebra": (*BOTTOM, "rules"),
    "kernel": BOTTOM,
    "dictionary": (*BOTTOM, "kernel"),
    "formats": (*BOTTOM, "rules", "dictionary"),
    "languages": (*BOTTOM, "rules"),
    "owl": (*BOTTOM, "rules"),
    "owl.files": (*BOTTOM, "rules", "owl", "formats", "dictionary", "changes.inputs"),
    "generate": BOTTOM,
    "algorithms": (*BOTTOM, "rules", "algebra"),
    "algorithms.equality": (*BOTTOM, "rules", "algebra", "algorithms"),
    "engines.local": ENGINE,
    "engines.spark": (),
    "engines.spark.cluster": BOTTOM,
    "engines.spark.sharded": (*ENGINE, "engines.local", "engines.spark.cluster"),
    "engines.spark.ingest": (*MIDDLE, "store", "engines.local", *SPARK),
    "engines.spark.dataframes": (*STATE, "changes", "queries", "explain", *SPARK),
    # LocalFacts is the form facts have in memory; the store brings them there and back.
    "store": (*ENGINE, "engines.local.facts"),
    "queries.notebook": BOTTOM,
    "queries.answers": (*ENGINE, "queries.notebook"),
    "changes": (*STATE, "languages", *SPARK, "engines.spark.ingest"),
    "queries": (*STATE, "changes"),
    "queries.sparql": (*STATE, "changes", "queries.limits"),
    "explain": (*STATE, "changes"),
    "streams": (*STATE, "changes", "queries", "queries.sparql"),
    "knowledge_base": (
        *STATE,
        "changes",
        "queries",
        "queries.sparql",
        "explain",
        "streams",
        "engines.spark.dataframes",
    ),
    "adapters": (*STATE, "", "changes", "queries", "queries.sparql", "knowledge_base"),
    "": (
        *BOTTOM,
        "rules",
        "rulesets",
        "store",
        "changes",
        "queries",
        "queries.answers",
        "explain",
        "streams",
        "knowledge_base",
        "adapters",
        "owl.files",
    ),
    "cli": (
        *BOTTOM,
        "",
        "rules",
        "rulesets",
        "formats",
        "changes",
        "queries",
        "queries.answers",
        "queries.sparql",
        "explain",
        "streams",
        "knowledge_base",
        "adapters",
        "generate",
        "store.records",
        "store.verification",
        "engines.spark.cluster",
    ),
}
COLUMNS = ("numpy", "pyarrow", "pandas")
# Other libraries that are not of the standard library, and who may import them.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "kernel": COLUMNS,
    "values": ("pyarrow",),  # only inside of functions: rules are read without it
    "dictionary": COLUMNS,
    "formats": (*COLUMNS, "pyoxigraph", "rdflib"),
    "generate": COLUMNS,
    "engines.local": COLUMNS,
    "engines.spark.cluster": (*COLUMNS, "pyspark"),
    "engines.spark.sharded": (*COLUMNS, "pyspark"),
    "engines.spark.ingest": (*COLUMNS, "pyspark"),
    "engines.spark.dataframes": (*COLUMNS, "pyspark"),
    "changes": ("pyspark",),  # its types
    "queries.answers": COLUMNS,
    "queries.sparql": (*COLUMNS, "rdflib"),
    "knowledge_base": ("rdflib", "pyspark"),  # their types
    "adapters": ("rdflib",),
    "explain": COLUMNS,
    "store": COLUMNS,
}
RESTRICTED = {*COLUMNS, "tests", "pyoxigraph", "rdflib", "pyspark", "numba"}


def component(module: str) -> str:
    """The longest name in the table that the module's name starts with; the package itself is ''."""
    parts = module.split(".")
    names = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return next((name for name in names if name in ALLOWED), parts[0] if _is_module(parts[0]) else "")


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
    return target == own or any(inside == a or target == a or (a and inside.startswith(f"{a}.")) for a in ALLOWED[own])


def _is_module(name: str) -> bool:
    path = PACKAGE / name
    return path.is_dir() or path.with_suffix(".py").is_file()


def modules() -> dict[str, Path]:
    names = {path: ".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in PACKAGE.rglob("*.py")}
    return {name.removesuffix("__init__").rstrip("."): path for path, name in names.items()}


def test_every_component_is_in_the_table() -> None:
    assert {component(module) for module in modules()} - {"engines"} == set(ALLOWED)


@pytest.mark.parametrize("module", sorted(modules()))
def test_imports_stay_within_the_layers(module: str) -> None:
    if module != "engines":
        assert violations(module, modules()[module].read_text(encoding="utf-8")) == []


SMALL = "engines.local.small"


@pytest.mark.parametrize("module", sorted(modules()))
def test_the_fast_path_has_one_facade(module: str) -> None:
    """Outside of its package, only the local engine imports the fast path, and only `SmallChanges`."""
    if not module.startswith(SMALL):
        names = imported(modules()[module].read_text(encoding="utf-8"), module)
        used = {name for name in names if name.startswith(f"tidelog.{SMALL}")}
        assert used <= ({f"tidelog.{SMALL}.SmallChanges"} if module == "engines.local.engine" else set())


PLANTED = [
    ("algorithms.dred", "import numpy as np"),
    ("algebra.engine", "def f():\n    import pyarrow"),
    ("rules.parser", "from pyspark.sql import SparkSession"),
    ("engines.local.solve", "from tidelog.algorithms.semi_naive import insert"),
    ("engines.local.solve", "from tests.reference import engine"),
    ("algebra.engine", "import tidelog.engines.local.engine"),
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
    ("engines.local.solve", "from tidelog.engines.local.fact_builder import heads\nimport numpy"),
    ("cli.run", "from tidelog import __version__\nfrom tidelog.adapters.nemo_runner import run"),
]


@pytest.mark.parametrize(("module", "source"), PERMITTED)
def test_what_the_layers_allow_passes(module: str, source: str) -> None:
    assert violations(module, source) == []
