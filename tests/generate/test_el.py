"""The random ontology is well formed and the same on every machine; its rules are those of the calculus."""

from __future__ import annotations

import csv
import hashlib
import re
from pathlib import Path

import pytest

from tests.reference.engine import least_model
from tidelog.errors import UsageError
from tidelog.generate import el
from tidelog.rules.parsing.parser import parse_facts, parse_program

ARITY = {"class": 1, "left": 1, "role": 1, "told": 2, "conj": 3, "exists": 3, "toldRole": 2, "chain": 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("el")
    el.write(500, out)
    return out


def rows(folder: Path, name: str) -> list[list[str]]:
    with (folder / f"{name}.csv").open(newline="") as file:
        return list(csv.reader(file))


def names(folder: Path, *relations: str) -> set[str]:
    return {row[0] for name in relations for row in rows(folder, name)}


def test_files(folder: Path) -> None:
    assert {f.name for f in folder.iterdir()} == {f"{name}.csv" for name in ARITY} | {"el.rls"}
    for name, arity in ARITY.items():
        assert {len(row) for row in rows(folder, name)} == {arity}, name


def test_counts_its_facts(tmp_path: Path) -> None:
    count = el.write(300, tmp_path)
    assert count == sum(len(rows(tmp_path, name)) for name in ARITY)


def test_the_program_reads_every_file(folder: Path) -> None:
    imports = re.findall(r'@import (\w+) :- csv\{resource="(\w+)\.csv"\}', (folder / "el.rls").read_text())
    assert dict(imports) == {name: name for name in ARITY}


def test_every_name_is_declared(folder: Path) -> None:
    concepts = names(folder, "class", "conj", "exists")
    roles = names(folder, "role")
    assert {c for row in rows(folder, "told") for c in row} <= concepts
    assert {c for row in rows(folder, "conj") for c in row} <= concepts
    assert {row[2] for row in rows(folder, "exists")} <= names(folder, "class")
    assert {row[1] for row in rows(folder, "exists")} <= roles
    assert {r for name in ("toldRole", "chain") for row in rows(folder, name) for r in row} <= roles
    assert names(folder, "left") <= concepts


def test_every_class_but_the_root_has_a_parent(folder: Path) -> None:
    assert names(folder, "class") - names(folder, "told") == {"C0"}


def test_seeds(tmp_path: Path, folder: Path) -> None:
    el.write(500, tmp_path, seed=1)
    assert rows(tmp_path, "told") != rows(folder, "told")


def test_same_bytes_everywhere(folder: Path) -> None:
    data = b"".join((folder / f"{name}.csv").read_bytes() for name in ARITY)
    assert hashlib.sha256(data).hexdigest() == "131a60ab3135073d3822bb34cc2f52c7cc9acaee5fe68d177405aa296eab3d06"


def test_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least 2, not 1"):
        el.write(1, tmp_path)


# Rules of the calculus one by one: axioms, then what must follow from them (`subClassOf`, or `link` where it says so).
CALCULUS = [
    ("told axioms are transitive", "told(A, B) . told(B, C) .", "subClassOf(A, C) ."),
    ("conjunctions are taken apart", "told(A, X) . conj(X, B, C) .", "subClassOf(A, B) . subClassOf(A, C) ."),
    ("and put together", "told(A, B) . told(A, C) . conj(X, B, C) . left(X) . told(X, D) .", "subClassOf(A, D) ."),
    ("a restriction links", "told(A, X) . exists(X, r, B) .", "link(A, r, B) ."),
    (
        "a link to a subclass, by a subrole, is an instance of a restriction",
        "told(A, X) . exists(X, r, B) . told(B, C) . toldRole(r, s) . exists(Y, s, C) . left(Y) . told(Y, D) .",
        "subClassOf(A, D) .",
    ),
    (
        "links compose along a chain",
        "told(A, X) . exists(X, r, B) . told(B, Y) . exists(Y, s, C) . toldRole(s, t) . chain(r, t, r) .",
        "link(A, r, C) .",
    ),
]
NAMES = "class(A) . class(B) . class(C) . class(D) . role(r) . role(s) . role(t) ."


@pytest.mark.parametrize(("axioms", "expected"), [row[1:] for row in CALCULUS], ids=[row[0] for row in CALCULUS])
def test_calculus(folder: Path, axioms: str, expected: str) -> None:
    rules = parse_program((folder / "el.rls").read_text()).rules
    model = least_model(rules, parse_facts(NAMES + axioms))
    assert set(parse_facts(expected)) <= set(model)
    assert not set(parse_facts(expected)) & set(least_model(rules, parse_facts(NAMES)))


def test_nothing_else_follows(folder: Path) -> None:
    """A conjunction or restriction that stands on no left-hand side is not put together."""
    rules = parse_program((folder / "el.rls").read_text()).rules
    conjunction = "told(A, B) . told(A, C) . conj(X, B, C) . told(X, D) ."
    restriction = "told(A, Y) . exists(Y, r, B) . exists(Z, r, B) . told(Z, D) ."
    model = least_model(rules, parse_facts(NAMES + conjunction + restriction))
    assert {fact.args for fact in model if fact.predicate == "subClassOf"} == {("<A>", "<B>"), ("<A>", "<C>")}
