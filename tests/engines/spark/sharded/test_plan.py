"""Where the rules of `plans.txt` are joined."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tidelog.engines.spark.sharded.plan import plan
from tidelog.rules.parsing.parser import parse_rules

FEW = 100


class Case(NamedTuple):
    """A rule, the rows that its atoms read, arguments with few values, and the steps that are expected."""

    name: str
    rule: str
    sizes: list[int]
    skewed: set[tuple[int, int]]
    steps: list[str]


def cases() -> list[Case]:
    text = (Path(__file__).parent / "plans.txt").read_text(encoding="utf-8")
    return [_case(block) for block in re.split(r"\n(?=## )", text)[1:]]


def _case(block: str) -> Case:
    name, rule, sizes, *steps = (line for line in block.splitlines() if line.strip())
    numbers, _, skewed = sizes.removeprefix("rows ").partition(" skewed ")
    pairs = {(int(source), int(argument)) for source, argument in re.findall(r"(\d+)\.(\d+)", skewed)}
    return Case(name.removeprefix("## "), rule, list(map(int, numbers.split())), pairs, [s.strip() for s in steps])


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_plan(case: Case) -> None:
    (rule,) = parse_rules(case.rule)
    made = plan(rule, case.sizes, FEW, lambda source, argument: (source, argument) in case.skewed)
    assert made.describe() == case.steps
