"""A program as a knowledge base takes it: parsed, checked, and ordered into strata."""

from __future__ import annotations

from tidelog.rules.analysis.safety import check_arity, check_rules
from tidelog.rules.analysis.strata import Stratum, stratify
from tidelog.rules.parsing.parser import parse_program
from tidelog.rules.syntax import RuleFile


def checked(text: str) -> tuple[RuleFile, list[Stratum]]:
    program = parse_program(text)
    check_rules(program.rules, check_arity(program.facts))
    return program, stratify(program.rules)
