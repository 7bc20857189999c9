"""Paths, packages, letters and limits named in ARCHITECTURE.md, CONTRIBUTING.md and docs/ are those of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.project.documents import ROOT
from tests.project.figures import functions_of_many_parameters, modules, repeated_class_names, top_level_modules
from tests.project.test_layers import LIBRARIES

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "tidelog"
LETTERED = {"algebra", "algorithms", "explain"}  # packages that may use every letter of docs/notation.md
NAMED = sorted(set(re.findall(r"`((?:src|tests|docs|bench|demo)/[\w./-]*)`", PAGE)))


@pytest.mark.parametrize("path", NAMED)
def test_every_path_named_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_code_map_is_complete() -> None:
    parts = {p for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()} - {
        PACKAGE / "__init__.py"
    }
    parts -= {PACKAGE / "engines"}
    parts |= {p for p in (PACKAGE / "engines").iterdir() if (p / "__init__.py").exists()}
    listed = {(ROOT / path).resolve() for path in NAMED}
    assert {p.relative_to(ROOT) for p in parts if p not in listed} == set()


def _letters(source: str) -> set[str]:
    """One-letter capital names that a source text binds: the papers' letters. Type variables are not meant."""
    nodes = list(ast.walk(ast.parse(source)))
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    type_variables = {ast.unparse(n.targets[0]) for n in nodes if isinstance(n, ast.Assign) and _is_type_variable(n)}
    return {name for name in names - type_variables if len(name) == 1 and name.isupper()}


def _is_type_variable(node: ast.Assign) -> bool:
    return (
        isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "TypeVar"
    )


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_letter_is_explained(path: Path) -> None:
    explained = set(re.findall(r"`([A-Z])`", (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")))
    assert _letters(path.read_text(encoding="utf-8")) <= explained


def test_letters_outside_the_algorithms_are_few() -> None:
    modules = [p for p in PACKAGE.rglob("*.py") if p.relative_to(PACKAGE).parts[0] not in LETTERED]
    assert set().union(*(_letters(p.read_text(encoding="utf-8")) for p in modules)) <= {"E", "I", "S"}


def test_algebra_and_algorithms_use_no_arrays() -> None:
    assert {name for name in LIBRARIES if name.startswith(("algebra", "algorithms"))} == set()


def test_no_module_has_a_global_statement() -> None:
    trees = {p: ast.parse(p.read_text(encoding="utf-8")) for p in PACKAGE.rglob("*.py")}
    assert {p for p, tree in trees.items() if any(isinstance(n, ast.Global) for n in ast.walk(tree))} == set()


def test_the_walkthrough_names_functions_of_the_modules_it_links() -> None:
    page = ROOT / "docs" / "walkthrough.md"
    links = re.findall(r"\[`(\w+)`\]\(([^)]+\.py)\)", page.read_text(encoding="utf-8"))
    assert links
    for name, path in links:
        nodes = ast.walk(ast.parse((page.parent / path).read_text(encoding="utf-8")))
        assert name in {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}, f"{name} in {path}"


LONGEST = 500


def test_no_module_is_too_long() -> None:
    assert f"at most {LONGEST} lines" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lengths = {p.relative_to(PACKAGE): len(p.read_text(encoding="utf-8").splitlines()) for p in PACKAGE.rglob("*.py")}
    assert {path: n for path, n in lengths.items() if n > LONGEST} == {}


# Public class names that two modules define: a stage of a computation, and a stage of a Spark job. Add no new ones.
REPEATED = {"Stage"}


def test_a_public_class_name_is_defined_once() -> None:
    assert set(repeated_class_names(modules(ROOT / "src"))) == REPEATED


def test_few_functions_have_many_parameters() -> None:
    many = functions_of_many_parameters(modules(ROOT / "src"))
    assert len(many) <= 3, many


def test_few_modules_are_loose_at_the_top() -> None:
    assert len(top_level_modules(ROOT / "src")) <= 3
