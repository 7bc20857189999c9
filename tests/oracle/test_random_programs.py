"""Every way to compute the consequences of a program gives its stratified least model, on random programs.

`--long` runs many more. A failure names the seed: `random_program(seed)` is the program.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.oracle.clingo_model import clingo_model
from tests.oracle.programs import RandomProgram, random_program
from tests.oracle.ways import local_model, semi_naive
from tidelog.engines.reference.engine import ReferenceEngine
from tidelog.engines.reference.model import least_model
from tidelog.model.facts import Fact

PROGRAMS, LONG = 2_000, 50_000
CHUNK = 50

WAYS: dict[str, Callable[[RandomProgram], frozenset[Fact]]] = {
    "clingo": lambda p: clingo_model(p.rules, p.facts),
    "semi-naive, reference engine": lambda p: semi_naive(ReferenceEngine(), p.rules, p.facts),
    "semi-naive, local engine": lambda p: local_model(p.rules, p.facts),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seeds" in metafunc.fixturenames:
        count = LONG if metafunc.config.getoption("long") else PROGRAMS
        chunks = [range(start, start + CHUNK) for start in range(0, count, CHUNK)]
        metafunc.parametrize("seeds", chunks, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")


def test_every_way_gives_the_least_model(seeds: range) -> None:
    for seed in seeds:
        program = random_program(seed)
        expected = least_model(program.rules, program.facts)
        for name, model in WAYS.items():
            found = model(program)
            assert found == expected, difference(program, name, found, expected)


def difference(program: RandomProgram, name: str, found: frozenset[Fact], expected: frozenset[Fact]) -> str:
    lines = [f"{name} differs from the naive least model on random_program({program.seed})", program.text]
    lines += [f"missing  {fact_text(fact)}" for fact in sorted(expected - found)]
    lines += [f"extra    {fact_text(fact)}" for fact in sorted(found - expected)]
    return "\n".join(lines)
