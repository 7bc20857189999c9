"""Input that nobody should write: it ends in one of our errors, never in another exception, and soon."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from tests.rules.cases import cases
from tests.rules.checked import checked
from tidelog.errors import ParseError, TidelogError
from tidelog.rules.analysis.strata import stratify
from tidelog.rules.parsing.parser import parse_facts, parse_program, parse_query, parse_rules
from tidelog.rules.printer import format_program
from tidelog.rules.syntax import RuleFile

GOOD = [case.program for case in cases("right_programs.txt")]
WRONG = [case.program for case in cases("wrong_programs.txt")]
FRAGMENTS = [
    *("p", "q", "ex:p", ":a", "?x", "?y", "_", "_:b", "true", "1", "-2", "3.5", "0x1", "1e5", "<a>", "$x", "!y"),
    *("(", ")", "(", ")", "[", "]", "{", "}", ",", ",", ".", ":-", "~", "=", "!=", "<", "<=", ">", ">=", "+", "-", "*"),
    *(
        "#count",
        "#[",
        '"a"',
        '"a"@en',
        "^^",
        '"""',
        'f"',
        '"',
        "STRLEN",
        "OR",
        "csv",
        "%",
        "\\",
        "'",
        "é",
        "\x00",
        "\n",
    ),
    *("@prefix", "@base", "@import", "@export", "@output", "@parameter"),
]


def survives(text: str) -> RuleFile | None:
    with suppress(TidelogError):
        parse_query(text)
    try:
        return checked(text)[0]
    except TidelogError:
        return None


def test_random_bytes() -> None:
    choose = random.Random(1)
    for _ in range(1_000):
        survives(choose.randbytes(choose.randrange(60)).decode("latin-1"))
        survives(choose.randbytes(choose.randrange(60)).decode("utf-8", "surrogateescape"))


def test_random_fragments() -> None:
    choose = random.Random(2)
    for _ in range(3_000):
        survives(choose.choice(["", " "]).join(choose.choices(FRAGMENTS, k=choose.randrange(1, 20))))


def mutated(text: str, choose: random.Random) -> str:
    for _ in range(choose.randrange(1, 3)):
        start = choose.randrange(len(text) + 1)
        end = start + choose.randrange(4)
        piece = choose.choice(["", text[start:end] * 2, choose.choice(FRAGMENTS), text[end : end + 5]])
        text = text[:start] + piece + text[end:]
    return text


def test_mutated_programs() -> None:
    choose = random.Random(3)
    accepted = 0
    for _ in range(4_000):
        program = survives(mutated(choose.choice(GOOD + WRONG), choose))
        if program is not None:
            accepted += 1
            assert parse_program(format_program(program)) == program
    assert accepted > 200  # else the mutations are too wild to reach the checks


@pytest.mark.parametrize(
    "text",
    [
        f"p({'(' * 100_000}",
        f"p({'STR(' * 40_000}1{')' * 40_000}) .",
        f"p({'-' * 90_000}1) .",
        f"p(1{' + 1' * 40_000}) .",
        f"p(?x) :- q(?x), ?x = 1{' * 2' * 40_000} .",
        f"p({'f' + chr(34) + '{'} {('f' + chr(34) + '{') * 20_000}",
        f"@export p :- csv{{a={'{a=' * 50_000}",
        f"p(?x) :- {'~' * 90_000}q(?x) .",
        f"p({'a, ' * 60_000}a) :- q(a) .",
        f"p(?x) :- {', '.join(f'?a{i} = ?a{i + 1}' for i in range(5_000))}, q(?x) .",
        f"p({'9' * 5_000}) .",
        f"p(0x{'f' * 5_000}) .",
        f'p("{"a" * 1_000_001}") .',
        f"p({'a' * 1_000_001}) .",
        f'p(f"{"a" * 1_000_001}") .',
        f"p(<{'a' * 1_000_001}>) .",
        "p(a) :- \ud800 .",
        'p("\ud800") .',
    ],
    ids=range(18),
)
def test_too_much(text: str) -> None:
    with pytest.raises(ParseError):
        parse_program(text)


def test_large_but_harmless() -> None:
    assert len(parse_facts(f"p({', '.join(['a'] * 10_000)}) .")[0].args) == 10_000
    (rule,) = parse_rules(f"p(?x) :- {', '.join(f'q(?x, a{i})' for i in range(1_000))} .")
    assert len(rule.body) == 1_000
    assert len(parse_facts(f'p("{"a" * 999_990}") .')) == 1


def test_long_chains_of_rules_do_not_exhaust_the_stack() -> None:
    chain = parse_rules("".join(f"p{i + 1}(?x) :- p{i}(?x) .\n" for i in range(5_000)))
    (stratum,) = stratify(reversed(chain))
    assert list(stratum.rules) == chain
    ring = [*chain, *parse_rules("p0(?x) :- p5000(?x) .")]
    (stratum,) = stratify(ring)
    assert stratum.recursive
    assert len(stratum.rules) == 5_001
