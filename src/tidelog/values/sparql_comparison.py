"""Equality, order and truth of terms in SPARQL (SPARQL 1.1, section 17). None is a type error.

Literals of known types are compared by value, and values of different kinds are different. A literal has no known value
if its type is unknown or its text is wrong for its type. Such a literal is equal to itself, it is different from every
language-tagged string, and any other comparison with it is an error.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from tidelog.model.terms import BOOLEAN, LANG_STRING, STRING, XSD, Term, split_literal
from tidelog.values import sparql_numbers as numbers
from tidelog.values.literals import CACHED, INTEGER_TYPES, Moment, moment, truth
from tidelog.values.sparql_numbers import number

_DAY_PART = 14 * 3600  # seconds: the largest time zone that a moment without one may be in
_NUMERIC = {*INTEGER_TYPES, f"{XSD}decimal", f"{XSD}float", f"{XSD}double"}


def order(a: Term, b: Term) -> int | None:
    """-1, 0 or 1 for `<`, `=`, `>`; None if the two have no order."""
    if a[0] != '"' or b[0] != '"':
        return None
    x, y = number(a), number(b)
    if x is not None and y is not None:
        return numbers.order(x, y)
    if x is not None or y is not None:
        return None
    return _text_order(a, b)


def _text_order(a: Term, b: Term) -> int | None:
    if a[-1] == '"' and b[-1] == '"':
        s, t = split_literal(a)[0], split_literal(b)[0]
        return (s > t) - (s < t)
    p, q = truth(a), truth(b)
    if p is not None and q is not None:
        return p - q
    m, n = moment(a), moment(b)
    if m is not None and n is not None:
        return moment_order(m, n)
    s, d, tag = split_literal(a)
    t, e, other = split_literal(b)
    return (s > t) - (s < t) if d == e == LANG_STRING and tag == other else None


def moment_order(m: Moment, n: Moment) -> int | None:
    if m[0] != n[0]:
        return None
    apart: Fraction = m[2] - n[2]
    if m[1] != n[1] and abs(apart) <= _DAY_PART:
        return None
    return (apart > 0) - (apart < 0)


def equal(a: Term, b: Term) -> bool | None:
    """`=`; None if a value is not known."""
    if a[0] != '"' or b[0] != '"':
        return a == b
    x, y = number(a), number(b)
    if x is not None and y is not None:
        return numbers.order(x, y) == 0
    if a == b:
        return True
    kind, other = _kind(a), _kind(b)
    if "tagged" in (kind, other):
        return False  # no value of any datatype has a language
    if not kind or not other:
        return None
    if kind != other or kind == "string":
        return False
    found = order(a, b)
    return None if found is None else found == 0


@lru_cache(CACHED)
def _kind(term: Term) -> str:
    """The kind of the value of a literal; "" if the value is not known."""
    if number(term) is not None:
        return "number"
    if truth(term) is not None:
        return "boolean"
    _, datatype, _ = split_literal(term)
    if datatype == STRING:
        return "string"
    if datatype == LANG_STRING:
        return "tagged"
    found = moment(term)
    return "" if found is None else found[0]


def effective(term: Term) -> bool | None:
    """The effective boolean value."""
    if term[0] != '"':
        return None
    if term[-1] == '"':
        return len(term) > 2
    text, datatype, _ = split_literal(term)
    if datatype == BOOLEAN:
        return truth(term) or False
    if datatype == LANG_STRING:
        return text != ""
    if datatype not in _NUMERIC:
        return None
    found = number(term)
    return found is not None and bool(found.value) and found.value == found.value


SortKey = tuple[object, ...]


def sort_key(term: Term | None) -> SortKey:
    """The sort key of ORDER BY: unbound, blank nodes, IRIs, literals. Literals are sorted by kind, then by value."""
    if term is None:
        return (0,)
    if term[0] == "_":
        return 1, term
    if term[0] == "<":
        return 2, term[1:-1]
    return _literal_key(term)


def _literal_key(term: Term) -> SortKey:
    found = number(term)
    if found is not None:
        value = found.value
        return (3, 1, 0) if value != value else (3, 1, 1, value)
    text, datatype, language = split_literal(term)
    if datatype in (STRING, LANG_STRING):
        return 3, 0, text, language
    p, m = truth(term), moment(term)
    if p is not None:
        return 3, 2, p
    return (3, 4, datatype, text) if m is None else (3, 3, m[0], m[2], m[1])
