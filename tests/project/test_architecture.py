"""ARCHITECTURE.md and docs/notation.md say what is there: paths exist, packages are listed, letters are explained."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.project.documents import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "tidelog"
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


FORBIDDEN = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "handler", "base", "core", "internals"}


def test_no_module_has_an_empty_name() -> None:
    stems = {p.stem for part in ("src", "tests", "bench", "demo") for p in (ROOT / part).rglob("*.py")}
    assert stems & FORBIDDEN == set()


LONGEST = 500


def test_no_module_is_a_god_file() -> None:
    lengths = {p.relative_to(PACKAGE): len(p.read_text(encoding="utf-8").splitlines()) for p in PACKAGE.rglob("*.py")}
    assert {path: n for path, n in lengths.items() if n > LONGEST} == {}
