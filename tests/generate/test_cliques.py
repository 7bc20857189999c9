"""The clique has one edge without which it stays whole, and one without which it loses a vertex."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.reference.engine import least_model
from tidelog.errors import UsageError
from tidelog.generate.cliques import PREDICATE, RULES, Edge, clique, write
from tidelog.model.terms import Fact, iri
from tidelog.rules.parsing.parser import parse_program

SIZES = [4, 5, 12]


def pairs(constants: int, without: Edge | None, folder: Path) -> int:
    """How many facts the written program has, with or without an edge."""
    write(constants, folder)
    rules = parse_program((folder / RULES).read_text()).rules
    edges = [Fact(PREDICATE, (iri(x), iri(y))) for x, y in clique(constants).edges if (x, y) != without]
    return len(set(least_model(rules, edges)))


@pytest.mark.parametrize("constants", SIZES)
def test_every_pair_follows(constants: int, tmp_path: Path) -> None:
    assert pairs(constants, None, tmp_path) == constants**2


@pytest.mark.parametrize("constants", SIZES)
def test_it_survives_without_the_redundant_edge(constants: int, tmp_path: Path) -> None:
    assert pairs(constants, clique(constants).redundant, tmp_path) == constants**2


@pytest.mark.parametrize("constants", SIZES)
def test_it_shrinks_without_the_bridge(constants: int, tmp_path: Path) -> None:
    assert pairs(constants, clique(constants).bridge, tmp_path) == (constants - 1) ** 2


@pytest.mark.parametrize("constants", [*SIZES, 100])
def test_no_edge_twice(constants: int) -> None:
    made = clique(constants)
    assert len({frozenset(edge) for edge in made.edges}) == len(made.edges) >= constants
    assert {made.redundant, made.bridge} <= set(made.edges)


def test_seeds() -> None:
    assert clique(50, seed=1) != clique(50) == clique(50)


def test_same_bytes_everywhere(tmp_path: Path) -> None:
    assert write(100, tmp_path) == len(clique(100).edges)
    digest = hashlib.sha256((tmp_path / f"{PREDICATE}.csv").read_bytes()).hexdigest()
    assert digest == "a621452fd634e68e90e64a417eb5c886274ea4ba886e6b31d2d92a6b489c6978"


def test_wrong_use() -> None:
    with pytest.raises(UsageError, match="at least 4, not 3"):
        clique(3)
