"""The table of built-in functions and operators: what each name does and how many arguments it takes.

Every function takes terms and gives a term, or None where it has no value; arguments without a value never reach it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from tidelog.model.terms import (
    LANG_STRING,
    XSD,
    Term,
    boolean,
    integer,
    iri,
    is_blank,
    is_iri,
    is_literal,
    split_literal,
    string,
)
from tidelog.rules import datatypes
from tidelog.rules.arithmetic import DIVIDED, MINUS, NUMERIC, PLUS, TIMES, Function
from tidelog.rules.strings import STRINGS
from tidelog.rules.values import (
    Single,
    equal,
    float_value,
    lexical,
    number,
    number_term,
    order,
    single,
    string_term,
    tagged,
    truth,
)

_ANY_URI = f"{XSD}anyURI"
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_NUMERALS = ((re.compile("0x[0-9A-Fa-f]+"), 16), (re.compile("0o[0-7]+"), 8), (re.compile("0b[01]+"), 2))
_INTEGER = re.compile(r"[+-]?[0-9]+")
# Numerals of 64 bits are shorter than this in every base.
_LONGEST_NUMERAL = 100


def _ordered(accept: Callable[[int], bool]) -> Function:
    def apply(left: Term, right: Term) -> Term | None:
        sign = order(left, right)
        return None if sign is None else boolean(accept(sign))

    return apply


def _equality(left: Term, right: Term) -> Term | None:
    return boolean(equal(left, right))


def _inequality(left: Term, right: Term) -> Term | None:
    return boolean(not equal(left, right))


def _same_term(left: Term, right: Term) -> Term | None:
    return boolean(left == right)


def _conjunction(*terms: Term) -> Term | None:
    truths = [truth(t) for t in terms]
    return None if None in truths else boolean(all(truths))


def _disjunction(*terms: Term) -> Term | None:
    truths = [truth(t) for t in terms]
    return None if None in truths else boolean(any(truths))


def _negation(term: Term) -> Term | None:
    value = truth(term)
    return None if value is None else boolean(not value)


def _checked(test: Callable[[Term], bool]) -> Function:
    return lambda term: boolean(test(term))


def _is_double(term: Term) -> bool:
    value = number(term)
    return isinstance(value, float) and not isinstance(value, Single)


def _is_string(term: Term) -> bool:
    found = tagged(term)
    return found is not None and not found[1]


def _string(term: Term) -> Term | None:
    return string_term(lexical(term))


def _full_string(term: Term) -> Term | None:
    return string_term(term)


def _datatype(term: Term) -> Term | None:
    if is_iri(term):
        return iri(_ANY_URI)
    return iri(split_literal(term)[1]) if is_literal(term) else None


def _is_value_of(term: Term, datatype: Term) -> Term | None:
    found = datatypes.has_type(term, datatype)
    return None if found is None else boolean(found)


def _language(term: Term) -> Term | None:
    return string(found[1]) if (found := tagged(term)) else None


def _to_iri(term: Term) -> Term | None:
    """Characters that no IRI can hold give no value: the result must be writable as RDF."""
    if is_iri(term):
        return term
    found = tagged(term)
    return iri(found[0]) if found and not found[1] and found[0] and not _NOT_IN_IRI.search(found[0]) else None


def _text_to_convert(term: Term) -> str | None:
    """The text of a literal that INT and DOUBLE try to read: any but language-tagged ones."""
    if not is_literal(term):
        return None
    text, datatype, _ = split_literal(term)
    return text if datatype != LANG_STRING and len(text) <= _LONGEST_NUMERAL else None


def _to_integer(term: Term) -> Term | None:
    value, flag = number(term), truth(term)
    if flag is not None or isinstance(value, int):
        return integer(int(flag or value or 0))
    if isinstance(value, float):
        return number_term(int(value)) if value.is_integer() else None
    text = _text_to_convert(term)
    return None if text is None else number_term(_read_integer(text))


def _read_integer(text: str) -> int | None:
    if _INTEGER.fullmatch(text):
        return int(text)
    base = next((base for numeral, base in _NUMERALS if numeral.fullmatch(text)), None)
    return None if base is None else int(text, base)


def _to_float(term: Term) -> float | None:
    value = number(term)
    if value is not None:
        return float(value)
    text = None if truth(term) is not None else _text_to_convert(term)
    return None if text is None else float_value(text)


def _to_double(term: Term) -> Term | None:
    return number_term(_to_float(term))


def _to_single(term: Term) -> Term | None:
    value = _to_float(term)
    return None if value is None else number_term(single(value))


_LESS, _LESS_EQUAL = _ordered(lambda sign: sign < 0), _ordered(lambda sign: sign <= 0)
_GREATER, _GREATER_EQUAL = _ordered(lambda sign: sign > 0), _ordered(lambda sign: sign >= 0)

_GENERAL: dict[str, tuple[Function, int, int | None]] = {
    "EQUALITY": (_equality, 2, 2),
    "UNEQUALITY": (_inequality, 2, 2),
    "NUMLESS": (_LESS, 2, 2),
    "NUMLESSEQ": (_LESS_EQUAL, 2, 2),
    "NUMGREATER": (_GREATER, 2, 2),
    "NUMGREATEREQ": (_GREATER_EQUAL, 2, 2),
    "SAMETERM": (_same_term, 2, 2),
    "AND": (_conjunction, 0, None),
    "OR": (_disjunction, 0, None),
    "NOT": (_negation, 1, 1),
    "ISINTEGER": (_checked(lambda t: isinstance(number(t), int)), 1, 1),
    "ISFLOAT": (_checked(lambda t: isinstance(number(t), Single)), 1, 1),
    "ISDOUBLE": (_checked(_is_double), 1, 1),
    "ISNUMERIC": (_checked(lambda t: number(t) is not None), 1, 1),
    "ISSTRING": (_checked(_is_string), 1, 1),
    "ISIRI": (_checked(is_iri), 1, 1),
    "ISNULL": (_checked(is_blank), 1, 1),
    "ISLITERAL": (_checked(is_literal), 1, 1),
    "ISTYPED": (_checked(lambda t: is_literal(t) and t[-1] == ">"), 1, 1),
    "ISILLTYPED": (_checked(datatypes.is_ill_typed), 1, 1),
    "ISVALUEOF": (_is_value_of, 2, 2),
    "CANONICAL": (datatypes.canonical, 1, 1),
    "STR": (_string, 1, 1),
    "FULLSTR": (_full_string, 1, 1),
    "DATATYPE": (_datatype, 1, 1),
    "LANG": (_language, 1, 1),
    "IRI": (_to_iri, 1, 1),
    "INT": (_to_integer, 1, 1),
    "DOUBLE": (_to_double, 1, 1),
    "FLOAT": (_to_single, 1, 1),
}

_OPERATORS: dict[str, Function] = {
    "=": _equality,
    "!=": _inequality,
    "<": _LESS,
    "<=": _LESS_EQUAL,
    ">": _GREATER,
    ">=": _GREATER_EQUAL,
    "+": PLUS,
    "-": MINUS,
    "*": TIMES,
    "/": DIVIDED,
}

_TABLE = _GENERAL | NUMERIC | STRINGS

# Upper-case name -> the least and the most number of arguments (None: any).
FUNCTIONS: Mapping[str, tuple[int, int | None]] = MappingProxyType(
    {name: (least, most) for name, (_, least, most) in _TABLE.items()}
)

APPLY: Mapping[str, Function] = MappingProxyType(
    _OPERATORS | {name: function for name, (function, _, _) in _TABLE.items()}
)
