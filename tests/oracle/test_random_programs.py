"""Every way to compute the consequences of a program gives its stratified least model, on random programs.

`--long` runs many more. A failure names the seed: `random_program(seed)` is the program.
"""

from __future__ import annotations

from typing import TypeVar

import pytest

from tests.oracle.clingo_model import clingo_model
from tests.oracle.programs import RandomProgram, random_program
from tests.oracle.ways import SMALL_BLOCKS, knowledge_base_model, semi_naive
from tests.reference.engine import ReferenceEngine, ReferenceFacts, least_model, matches
from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import all_from
from tidelog.engines.local.engine import LocalEngine
from tidelog.model.terms import Fact
from tidelog.rules.parsing.parser import parse_facts, parse_rules
from tidelog.rules.printer import format_fact

F = TypeVar("F", bound=FactSet)

PROGRAMS, LONG = 2_000, 50_000
CHUNK = 50


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seeds" in metafunc.fixturenames:
        count = LONG if metafunc.config.getoption("long") else PROGRAMS
        chunks = [range(start, start + CHUNK) for start in range(0, count, CHUNK)]
        metafunc.parametrize("seeds", chunks, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")


def test_engines_and_clingo_give_the_least_model(seeds: range) -> None:
    for seed in seeds:
        program = random_program(seed)
        expected = least_model(program.rules, program.facts)
        compare("clingo", program, clingo_model(program.rules, program.facts), expected)
        instances = sum(len(matches(all_from(rule, ReferenceFacts(expected)))) for rule in program.rules)
        check_semi_naive(ReferenceEngine(), program, expected, instances)
        check_semi_naive(LocalEngine(SMALL_BLOCKS), program, expected, instances)


def test_a_knowledge_base_given_text_holds_the_least_model(seeds: range) -> None:
    for seed in seeds[::5]:
        program = random_program(seed)
        expected = least_model(program.rules, program.facts)
        compare("the knowledge base", program, knowledge_base_model(program.rule_text, program.fact_text), expected)


def check_semi_naive(engine: Engine[F], program: RandomProgram, expected: frozenset[Fact], instances: int) -> None:
    """The least model, and each rule instance of it considered exactly once."""
    work = Work()
    name = f"semi-naive on {type(engine).__name__}"
    compare(name, program, semi_naive(engine, program.rules, program.facts, work), expected)
    if work.derivations != instances:
        pytest.fail(f"{name}: {work.derivations} derivations for {instances} rule instances\n{program.text}")


def compare(name: str, program: RandomProgram, found: frozenset[Fact], expected: frozenset[Fact]) -> None:
    if found != expected:
        lines = [f"{name} differs from the naive least model", program.text]
        lines += [f"missing  {format_fact(fact)}" for fact in sorted(expected - found)]
        lines += [f"extra    {format_fact(fact)}" for fact in sorted(found - expected)]
        pytest.fail("\n".join(lines))


def test_programs_print_and_parse_back() -> None:
    for seed in range(CHUNK * 4):
        program = random_program(seed)
        assert tuple(parse_rules(program.rule_text)) == program.rules, f"random_program({seed})"
        assert tuple(parse_facts(program.fact_text)) == program.facts, f"random_program({seed})"
