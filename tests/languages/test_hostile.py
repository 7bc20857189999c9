"""Programs that nobody should write: they end in one of our errors, never in another exception, and soon."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from tests.languages.test_languages import checked, of
from tidelog.errors import ParseError, TidelogError
from tidelog.languages import LANGUAGES, parse_n3, parse_ruleml
from tidelog.rules.parsing.parser import parse_program
from tidelog.rules.printer import format_program

FRAGMENTS = {
    ".n3": [
        *("{", "}", "[", "]", "(", ")", "=>", "<=", "<-", "=", ",", ";", ".", "!", "^", "^^", "?x", "?_1", "_:b", "a"),
        *("is", "of", "has", "@is", "true", "false", "1", "-2.5", "1e", "<a>", "<", ">", "rdf:type", ":", "x:y", '"'),
        *("'''", '"""', '"a"@en', "@prefix", "@base", "PREFIX", "\\", "\\u00", "#", "\x00", "é", "\ud800", "\n", "|"),
    ],
    ".ruleml": [
        *("<Atom>", "</Atom>", "<Rel>", "</Rel>", "<Var>", "</Var>", "<Var/>", "<Ind>x</Ind>", "<Data>", "<And/>"),
        *("<Implies>", "<if/>", "<then/>", "<Naf>", "<oid/>", "<arg>", "<Equal/>", "<Forall>", "</", ">", "<", "&lt;"),
        *("&#0;", "&x;", "<!--", "<![CDATA[", "<!DOCTYPE a>", "<?p?>", ' iri="a b"', ' xsi:type="q"', "\x00", "\ud800"),
    ],
}


def survives(ending: str, text: str) -> bool:
    """Whether it is a program; then our own language can say it too."""
    try:
        program = checked(ending, text)
    except TidelogError:
        return False
    assert parse_program(format_program(program)).rules == program.rules
    return True


def mutated(text: str, ending: str, choose: random.Random) -> str:
    for _ in range(choose.randrange(1, 4)):
        start = choose.randrange(len(text) + 1)
        end = start + choose.randrange(6)
        piece = choose.choice(["", text[start:end] * 2, choose.choice(FRAGMENTS[ending]), text[end : end + 9]])
        text = text[:start] + piece + text[end:]
    return text


@pytest.mark.parametrize("ending", LANGUAGES)
def test_mutated_programs(ending: str) -> None:
    choose = random.Random(1)
    programs = [case.program for kind in ("right", "wrong", "closures") for e, case in of(kind) if e == ending]
    outcomes = [survives(ending, mutated(choose.choice(programs), ending, choose)) for _ in range(3_000)]
    assert {True, False} == set(outcomes)


@pytest.mark.parametrize("ending", LANGUAGES)
def test_random_fragments(ending: str) -> None:
    choose = random.Random(2)
    start = "" if ending == ".n3" else "<Assert>"
    for _ in range(2_000):
        survives(ending, start + choose.choice(["", " "]).join(choose.choices(FRAGMENTS[ending], k=12)))


@pytest.mark.parametrize("ending", LANGUAGES)
def test_random_characters(ending: str) -> None:
    choose = random.Random(3)
    for _ in range(1_000):
        survives(ending, choose.randbytes(choose.randrange(60)).decode("utf-8", "surrogateescape"))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[" * 100_000, "nested more than 64 deep"),
        ("<a> <b> " + "(" * 5_000 + ")" * 5_000 + " .", "nested more than 64 deep"),
        ("<a> <b> " + "[ <c> " * 5_000 + "] " * 5_000 + " .", "nested more than 64 deep"),
        ("{" * 5_000 + "}" * 5_000 + " => {} .", "nested more than 64 deep"),
        ("<a> <b> " + "1 , " * 60_000 + "2 .", "a statement of more than 100000 words"),
        (f"<a> <b> <{'c' * 1_100_000}> .", "longer than 1000000 characters"),
        ("{ <l> <p> (" + "?x " * 2_000 + ") } => { ?x <q> ?x } .", "a rule of more than 1,000 triples"),
        ("<a> <b> '" + "\\" * 999_999, "this string is not closed"),
        ("a" * 900_000, "is no term"),
    ],
)
def test_huge_n3(text: str, error: str) -> None:
    with pytest.raises(ParseError, match=error):
        parse_n3(text)


def test_long_paths_do_not_exhaust_the_stack() -> None:
    assert len(parse_n3(f"<a>{'!<p>' * 20_000} <b> <c> .").facts) == 20_001


ATOM = "<Atom><Rel>p</Rel><Ind>a</Ind></Atom>"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("<And>" * 100_000, "elements are nested more than 64 deep"),
        (f"<Assert><Implies>{'<And>' * 70}", "elements are nested more than 64 deep"),
        (
            f"<Assert><Atom><Rel>p</Rel>{'<Ind>a</Ind>' * 2_000}</Atom></Assert>",
            "more than 1,000 elements in one <Atom>",
        ),
        (f"<Assert><Atom><Rel>{'x' * 1_100_000}</Rel></Atom></Assert>", "a text of more than 1,000,000 characters"),
        (
            "<Assert><Atom><Rel>" + "x\n" * 600_000 + "</Rel></Atom></Assert>",
            "a text of more than 1,000,000 characters",
        ),
        (
            f"<Assert><Implies><if>{f'<And>{ATOM * 900}</And>' * 2}</if><then>{ATOM}</then></Implies></Assert>",
            "1,000 atoms",
        ),
    ],
)
def test_huge_ruleml(text: str, error: str) -> None:
    with pytest.raises(ParseError, match=error):
        parse_ruleml(text)


def test_a_long_rulebase_is_read_clause_by_clause() -> None:
    assert len(parse_ruleml(f"<RuleML><Assert>{ATOM * 20_000}</Assert></RuleML>").facts) == 20_000


def test_half_of_a_surrogate_pair_is_refused() -> None:
    for parse in LANGUAGES.values():
        with suppress(ParseError):
            raise AssertionError(parse("\ud800", "<text>"))
