"""Expressions and their results as lines of text: `EXPRESSION => TERM`, or `=> nothing` where there is no value."""

from __future__ import annotations

from pathlib import Path

from tests.adapters.nemo_runner.case import long_term
from tidelog.model.terms import Term
from tidelog.rules.parsing.parser import parse_program
from tidelog.rules.syntax import Assignment, Expression

RULE = "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . r(?value) :- d(?one), ?value = {} ."


def lines(name: str) -> list[str]:
    text = (Path(__file__).parent / name).read_text()
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def split(line: str) -> tuple[str, Term | None]:
    expression, _, result = line.rpartition(" => ")
    return expression, None if result == "nothing" else long_term(result)


def expression(text: str) -> Expression:
    body = parse_program(RULE.format(text)).rules[0].body
    return next(part.expression for part in body if isinstance(part, Assignment))
