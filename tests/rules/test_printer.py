"""What the printer writes, the parser reads back as the same objects."""

from __future__ import annotations

from hypothesis import given, settings

from tests.rules.programs import PREFIXES, facts, programs, rules
from tidelog.model.terms import Fact
from tidelog.rules.parsing.parser import parse_facts, parse_program, parse_rules
from tidelog.rules.printer import format_fact, format_program, format_rule
from tidelog.rules.syntax import Rule, RuleFile

DECLARED = "".join(f"@prefix {prefix}: <{expansion}> .\n" for prefix, expansion in PREFIXES.items())
relaxed = settings(deadline=None, derandomize=True, max_examples=200)


@relaxed
@given(rules)
def test_rules(rule: Rule) -> None:
    for text in (format_rule(rule), DECLARED + format_rule(rule, PREFIXES)):
        (back,) = parse_rules(text)
        assert back == rule
        assert back.name == rule.name


@relaxed
@given(facts)
def test_facts(fact: Fact) -> None:
    assert parse_facts(format_fact(fact)) == [fact]
    assert parse_facts(DECLARED + format_fact(fact, PREFIXES)) == [fact]


@relaxed
@given(facts)
def test_the_quick_way_of_reading_facts_agrees_with_the_tokens(fact: Fact) -> None:
    """A comment after the predicate is more than the quick way takes."""
    text = format_fact(Fact("p", fact.args))
    assert parse_facts(text) == parse_facts(text.replace("p(", "p % or so\n(", 1))


@settings(relaxed, max_examples=60)
@given(programs)
def test_programs(program: RuleFile) -> None:
    assert parse_program(format_program(program)) == program
