"""Prints rules, facts and programs. The parser reads the text back to equal objects.

A triple is printed as `[?x, rdf:type, ub:Person]`. A wildcard is printed as `_` if the parser would invent its name
again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Any

from tidelog.model import terms
from tidelog.model.terms import TRIPLE, Fact, Term
from tidelog.rules.analysis.normalise import fresh_variables
from tidelog.rules.parsing.terms import CONDITIONS, PRECEDENCE
from tidelog.rules.parsing.tokens import LOCAL, NAME, NOT_NAMES, STANDARD_PREFIXES, WELL_KNOWN_PREFIXES
from tidelog.rules.syntax import (
    Aggregate,
    Assignment,
    Atom,
    Call,
    Condition,
    Export,
    Expression,
    Import,
    Literal,
    Negation,
    Rule,
    RuleFile,
    Variable,
    expression_variables,
)

Prefixes = Mapping[str, str] | None
Wildcards = frozenset[Variable]

_NAME = re.compile(NAME)
_LOCAL = re.compile(f"(?:{LOCAL})?")
_NONE: Wildcards = frozenset()


def format_term(term: Expression | Aggregate, prefixes: Prefixes = None) -> str:
    """The text of a term, a variable, an aggregate or an expression."""
    if isinstance(term, Variable):
        return str(term)
    if isinstance(term, Call):
        return _call(term, prefixes)
    if isinstance(term, Aggregate):
        return f"#{term.function}({', '.join(format_term(a, prefixes) for a in term.args)})"
    return _constant(term, prefixes)


def _constant(term: Term, prefixes: Prefixes) -> str:
    if terms.is_iri(term):
        return _iri(term[1:-1], prefixes, NOT_NAMES)
    if not terms.is_literal(term) or term[-1] != ">":
        return term
    value = terms.to_value(term)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and abs(value) < float("inf")):
        return terms.plain(term)
    quoted, _, datatype = term.rpartition("^^")
    return f"{quoted}^^{_iri(datatype[1:-1], prefixes, ())}"


def _iri(text: str, prefixes: Prefixes, reserved: tuple[str, ...]) -> str:
    if _NAME.fullmatch(text) and text not in reserved:
        return text
    return prefixed(text, prefixes) or f"<{text}>"


def prefixed(text: str, prefixes: Prefixes) -> str:
    """The prefixed name of an IRI, or the empty text. Declared prefixes come before well-known ones.

    Without `prefixes` only the four standard ones are used, as in stored rules.

    >>> prefixed("http://xmlns.com/foaf/0.1/name", {}), prefixed("http://xmlns.com/foaf/0.1/name", None)
    ('foaf:name', '')
    """
    declared = prefixes or {}
    others = STANDARD_PREFIXES if prefixes is None else WELL_KNOWN_PREFIXES
    for prefix, expansion in chain(declared.items(), others.items()):
        is_used = declared.get(prefix, expansion) == expansion
        if expansion and is_used and text.startswith(expansion) and _LOCAL.fullmatch(text, len(expansion)):
            return f"{prefix}:{text[len(expansion) :]}"
    return ""


def _call(call: Call, prefixes: Prefixes) -> str:
    level = PRECEDENCE.get(call.function)
    if level is None or len(call.args) != 2:
        return f"{call.function}({', '.join(format_term(a, prefixes) for a in call.args)})"
    left, right = call.args
    # Comparisons do not chain: an operand with the same precedence needs parentheses on the left, too.
    lowest = level + 1 if level == PRECEDENCE["="] else level
    return f"{_operand(left, lowest, prefixes)} {call.function} {_operand(right, level + 1, prefixes)}"


def _operand(term: Expression, lowest: int, prefixes: Prefixes) -> str:
    text = format_term(term, prefixes)
    loose = isinstance(term, Call) and len(term.args) == 2 and PRECEDENCE.get(term.function, lowest) < lowest
    return f"({text})" if loose else text


def format_atom(atom: Atom, prefixes: Prefixes = None, wildcards: Wildcards = _NONE) -> str:
    args = ", ".join("_" if a in wildcards else format_term(a, prefixes) for a in atom.args)
    if atom.predicate == TRIPLE and len(atom.args) == 3:
        return f"[{args}]"
    return f"{format_predicate(atom.predicate, prefixes)}({args})"


def format_predicate(predicate: str, prefixes: Prefixes = None) -> str:
    reserved = (predicate,) if predicate == "_" or predicate.upper() in CONDITIONS else ()
    return _iri(predicate, prefixes, reserved)


def format_literal(literal: Literal, prefixes: Prefixes = None, wildcards: Wildcards = _NONE) -> str:
    if isinstance(literal, Atom):
        return format_atom(literal, prefixes, wildcards)
    if isinstance(literal, Negation):
        return f"~{format_atom(literal.atom, prefixes, wildcards)}"
    if isinstance(literal, Assignment):
        return f"{literal.variable} = {_operand(literal.expression, PRECEDENCE['='] + 1, prefixes)}"
    return format_term(literal.expression, prefixes)


def format_rule(rule: Rule, prefixes: Prefixes = None) -> str:
    wildcards = _wildcards(rule)
    heads = ", ".join(format_atom(h, prefixes) for h in rule.heads)
    body = ", ".join(format_literal(b, prefixes, wildcards) for b in rule.body)
    return f"{_attributes(rule)}{heads}{' ' if heads else ''}:- {body}{' ' if body else ''}."


def as_written(rule: Rule) -> str:
    """The text of a rule for messages: without the names that the parser invented for computed arguments and wildcards.

    >>> from tidelog.rules.parsing.parser import parse_rules
    >>> [rule] = parse_rules("p(?x + 1) :- q(?x, _), ~r(?x * 2) .")
    >>> print(rule)
    p(?_3) :- q(?x, _), ?_2 = ?x * 2, ~r(?_2), ?_3 = ?x + 1 .
    >>> print(as_written(rule))
    p(?x + 1) :- q(?x, _), ~r(?x * 2) .
    """
    if rule.written:
        return rule.written
    values = _computed(rule)
    body = [b for b in rule.body if not (isinstance(b, Assignment) and b.variable in values)]
    heads = ", ".join(format_atom(_folded(h, values)) for h in rule.heads)
    parts = ", ".join(literal_as_written(b, rule) for b in body)
    return f"{_attributes(rule)}{heads}{' ' if heads else ''}:- {parts}{' ' if parts else ''}."


def literal_as_written(literal: Literal, rule: Rule) -> str:
    """The text of a body literal of a rule, without invented names."""
    values = _computed(rule)
    if isinstance(literal, Assignment) and literal.variable in values:
        return format_term(literal.expression)
    if isinstance(literal, Atom):
        literal = _folded(literal, values)
    elif isinstance(literal, Negation):
        literal = Negation(_folded(literal.atom, values))
    uses = Counter(chain.from_iterable(variables_of(b) for b in (*rule.heads, *rule.body)))
    return format_literal(literal, None, frozenset(v for v in uses if v.name.startswith("_") and uses[v] == 1))


def _computed(rule: Rule) -> dict[Variable, Expression]:
    """The invented variables of a rule that stand for computed arguments, with their expressions."""
    return {b.variable: b.expression for b in rule.body if isinstance(b, Assignment) and b.variable.name[:1] == "_"}


def _folded(atom: Atom, values: Mapping[Variable, Expression]) -> Atom:
    """The atom with expressions in place of variables, only to be printed."""
    args: list[Any] = []
    for arg in atom.args:
        if isinstance(arg, Aggregate):
            inside: list[Any] = [values.get(v, v) for v in arg.args]
            args.append(Aggregate(arg.function, tuple(inside)))
        else:
            args.append(values.get(arg, arg) if isinstance(arg, Variable) else arg)
    return Atom(atom.predicate, tuple(args))


def _attributes(rule: Rule) -> str:
    name = f"#[name({terms.string(rule.name)})] " if rule.name is not None else ""
    bound = f"#[bound({rule.bound})] " if rule.bound is not None else ""
    return f"{name}{bound}{'#[cartesian] ' if rule.cartesian else ''}{'#[report] ' if rule.report else ''}"


def _wildcards(rule: Rule) -> Wildcards:
    """The variables to print as `_`: used once, with the names that the parser would invent."""
    uses = Counter(chain.from_iterable(variables_of(b) for b in (*rule.heads, *rule.body)))
    atoms = (b.atom if isinstance(b, Negation) else b for b in rule.literals)
    candidates = [v for a in atoms for v in a.variables() if v.name.startswith("_") and uses[v] == 1]
    fresh = fresh_variables(v.name for v in uses.keys() - set(candidates))
    return frozenset(candidates) if all(v == f for v, f in zip(candidates, fresh, strict=False)) else _NONE


def variables_of(literal: Literal) -> list[Variable]:
    """All variables of a literal or a head, with those of aggregates."""
    if isinstance(literal, Condition):
        return list(expression_variables(literal.expression))
    if isinstance(literal, Assignment):
        return [literal.variable, *expression_variables(literal.expression)]
    atom = literal.atom if isinstance(literal, Negation) else literal
    inside = (v for a in atom.args if isinstance(a, Aggregate) for v in a.args)
    return [*atom.variables(), *inside]


def format_fact(fact: Fact, prefixes: Prefixes = None) -> str:
    return f"{format_atom(Atom(fact.predicate, fact.args), prefixes)} ."


def format_program(program: RuleFile) -> str:
    """The text of a whole program: prefixes, imports, rules, facts, exports."""
    prefixes = program.prefixes
    lines = [f"@prefix {prefix}: <{expansion}> ." for prefix, expansion in prefixes.items()]
    lines += (_transfer("import", i, prefixes) for i in program.imports)
    lines += (format_rule(r, prefixes) for r in program.rules)
    lines += (format_fact(f, prefixes) for f in program.facts)
    lines += (_transfer("export", e, prefixes) for e in program.exports)
    return "".join(f"{line}\n" for line in lines)


def _transfer(verb: str, directive: Import | Export, prefixes: Prefixes) -> str:
    predicate = format_predicate(directive.predicate, prefixes)
    return f"@{verb} {predicate} :- {directive.format}{_value(directive.parameters)} ."


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)}={_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_value, value))})"
    return terms.string(value) if isinstance(value, str) else _constant(terms.to_term(value), None)


def _key(key: str) -> str:
    return key if _NAME.fullmatch(key) else terms.string(key)
