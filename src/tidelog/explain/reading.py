"""Facts and patterns as users write them: `parent(ann, bob)`, `[ann, rdf:type, ub:Person]`, or a triple of Turtle."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tidelog.errors import UsageError
from tidelog.model.facts import Fact
from tidelog.model.terms import to_term
from tidelog.rules.parser import parse_program, parse_query
from tidelog.rules.syntax import Atom
from tidelog.rules.tokens import BLANK, IRI, LANGUAGE, NUMBER, PREFIXED, STRING

_NAMED = rf"(?:{IRI}|{PREFIXED})"
_SUBJECT = rf"(?:{_NAMED}|{BLANK})"
_OBJECT = rf"(?:{STRING}(?:{LANGUAGE}|\^\^{_NAMED})?|{_SUBJECT}|[+-]?{NUMBER}|true|false)"
_TURTLE = re.compile(rf"\s*({_SUBJECT})\s+(a|{_NAMED})\s+({_OBJECT})\s*\.?\s*", re.DOTALL)


def read_fact(source: object, prefixes: Mapping[str, str]) -> Fact:
    """One fact: text, a `Fact`, or a row such as `change.added` gives, `("parent", "ann", "bob")`."""
    if isinstance(source, Fact):
        return source
    if isinstance(source, tuple) and source and isinstance(source[0], str):
        return Fact(source[0], tuple(map(to_term, source[1:])))
    if not isinstance(source, str):
        raise UsageError(f"cannot read a fact from {type(source).__name__}; give text such as 'parent(ann, bob)'")
    facts = parse_program(_statement(source), "<fact>", only="facts", prefixes=prefixes).facts
    if len(facts) != 1:
        raise UsageError(f"one fact is expected, not {len(facts)}")
    return facts[0]


def _statement(text: str) -> str:
    triple = _TURTLE.fullmatch(text)
    if triple:
        subject, predicate, object_ = triple.groups()
        return f"[{subject}, {'rdf:type' if predicate == 'a' else predicate}, {object_}] ."
    return text if text.rstrip().endswith(".") else f"{text} ."


def read_pattern(text: str, prefixes: Mapping[str, str]) -> Atom:
    """One atom, with variables or without."""
    body, _ = parse_query(text, prefixes)
    if len(body) != 1 or not isinstance(body[0], Atom):
        raise UsageError(f"one atom is expected, such as alert(?x), not {text!r}")
    return body[0]
