"""The built-in functions and operators of rules, as in Nemo, with their numbers of arguments.

A function takes terms and returns a term, or None if it has no value. Callers never pass an argument without a value.
The functions in `COLUMNS` take whole columns, which is much faster.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from urllib.parse import unquote_to_bytes

from tidelog.model.terms import (
    LANG_STRING,
    NOT_IN_IRI,
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
from tidelog.values import datatypes, regex
from tidelog.values.literals import (
    INTEGER_TEXT,
    LANGUAGE_TAG,
    STRING_FUNCTIONS,
    Function,
    Single,
    float_value,
    percent_encoded,
    single,
    string_pair,
    string_term,
    tagged,
    text_function,
    truth,
)
from tidelog.values.rule_numbers import DIVIDED, MINUS, NUMERIC, PLUS, TIMES, equal, lexical, number, number_term, order

_ANY_URI = f"{XSD}anyURI"
_NUMERALS = ((re.compile("0x[0-9A-Fa-f]+"), 16), (re.compile("0o[0-7]+"), 8), (re.compile("0b[01]+"), 2))
# A numeral of 64 bits is shorter than this in every base.
_LONGEST_NUMERAL = 100
# LEVENSHTEIN has no value if the product of the lengths is larger.
MOST_COMPARISONS = 1_000_000


def _ordered(accept: Callable[[int], bool]) -> Function:
    def apply(left: Term, right: Term) -> Term | None:
        sign = order(left, right)
        return None if sign is None else boolean(accept(sign))

    return apply


def _connective(combine: Callable[[Sequence[bool | None]], bool]) -> Function:
    def apply(*terms: Term) -> Term | None:
        truths = [truth(t) for t in terms]
        return None if None in truths else boolean(combine(truths))

    return apply


def _checked(test: Callable[[Term], bool]) -> Function:
    return lambda term: boolean(test(term))


def _is_string(term: Term) -> bool:
    found = tagged(term)
    return found is not None and not found[1]


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
    """No value if the text has a character that no IRI can have: the result must be valid RDF."""
    if is_iri(term):
        return term
    found = tagged(term)
    return iri(found[0]) if found and not found[1] and found[0] and not NOT_IN_IRI.search(found[0]) else None


def _text_to_convert(term: Term) -> str | None:
    """The text that INT and DOUBLE convert: that of any literal without language."""
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
    if INTEGER_TEXT.fullmatch(text):
        return int(text)
    base = next((base for numeral, base in _NUMERALS if numeral.fullmatch(text)), None)
    return None if base is None else int(text, base)


def _to_float(term: Term) -> float | None:
    value = number(term)
    if value is not None:
        return float(value)
    text = None if truth(term) is not None else _text_to_convert(term)
    return None if text is None else float_value(text)


def _to_single(term: Term) -> Term | None:
    value = _to_float(term)
    return None if value is None else number_term(single(value))


def _substring(term: Term, start: Term, *length: Term) -> Term | None:
    """The characters at `start`, `start` + 1, …; positions below 1 are counted but have no character."""
    found, bounds = tagged(term), [number(t) for t in (start, *length)]
    whole = [b for b in bounds if isinstance(b, int)]
    if not found or len(whole) < len(bounds):
        return None
    first = whole[0] - 1
    end = first + whole[1] if len(whole) == 2 else len(found[0])
    return string_term(found[0][max(first, 0) : max(end, 0)], found[1])


def _comparison(first: Term, second: Term) -> Term | None:
    """-1, 0 or 1: the order by code point."""
    one, two = tagged(first), tagged(second)
    if one is None or two is None or one[1] != two[1]:
        return None
    return integer((one > two) - (one < two))


def search_all(texts: Sequence[Term | None], patterns: Sequence[Term | None]) -> list[Term | None]:
    """REGEX of columns: whether each pattern matches a part of its text. Equal patterns are matched together."""
    result: list[Term | None] = [None] * len(texts)
    rows: dict[Term | None, list[int]] = {}
    for at, wanted in enumerate(patterns):
        rows.setdefault(wanted, []).append(at)
    for wanted, places in rows.items():
        pattern = None if wanted is None else tagged(wanted)
        known = [(at, s[0]) for at in places if (t := texts[at]) is not None and (s := tagged(t)) is not None]
        found = None if pattern is None or pattern[1] or not known else regex.search([s for _, s in known], pattern[0])
        for (at, _), matches in zip(known, found or (), strict=False):
            result[at] = boolean(matches)
    return result


def _decoded(term: Term) -> Term | None:
    found = tagged(term)
    try:
        return string_term(unquote_to_bytes(found[0]).decode()) if found else None
    except UnicodeDecodeError:
        return None


def _distance(first: Term, second: Term) -> Term | None:
    found = string_pair(first, second)
    if found is None or len(found[0]) * len(found[1]) > MOST_COMPARISONS:
        return None
    return integer(levenshtein(found[0], found[1]))


def levenshtein(one: str, two: str) -> int:
    """The edit distance: the least number of characters to insert, delete or replace."""
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(two, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def _with_language(term: Term, language: Term) -> Term | None:
    """The plain string with a language tag in lower case."""
    text, tag = tagged(term), tagged(language)
    if text is None or tag is None or text[1] or tag[1] or not LANGUAGE_TAG.fullmatch(tag[0]):
        return None
    return string_term(text[0], tag[0].lower())


_EQUAL, _NOT_EQUAL = (lambda x, y: boolean(equal(x, y))), (lambda x, y: boolean(not equal(x, y)))
_LESS, _LESS_EQUAL = _ordered(lambda sign: sign < 0), _ordered(lambda sign: sign <= 0)
_GREATER, _GREATER_EQUAL = _ordered(lambda sign: sign > 0), _ordered(lambda sign: sign >= 0)

_GENERAL: dict[str, tuple[Function, int, int | None]] = {
    "EQUALITY": (_EQUAL, 2, 2),
    "UNEQUALITY": (_NOT_EQUAL, 2, 2),
    "NUMLESS": (_LESS, 2, 2),
    "NUMLESSEQ": (_LESS_EQUAL, 2, 2),
    "NUMGREATER": (_GREATER, 2, 2),
    "NUMGREATEREQ": (_GREATER_EQUAL, 2, 2),
    "SAMETERM": (lambda left, right: boolean(left == right), 2, 2),
    "AND": (_connective(all), 0, None),
    "OR": (_connective(any), 0, None),
    "NOT": (_connective(lambda truths: not truths[0]), 1, 1),
    "ISINTEGER": (_checked(lambda t: isinstance(number(t), int)), 1, 1),
    "ISFLOAT": (_checked(lambda t: isinstance(number(t), Single)), 1, 1),
    "ISDOUBLE": (_checked(lambda t: type(number(t)) is float), 1, 1),
    "ISNUMERIC": (_checked(lambda t: number(t) is not None), 1, 1),
    "ISSTRING": (_checked(_is_string), 1, 1),
    "ISIRI": (_checked(is_iri), 1, 1),
    "ISNULL": (_checked(is_blank), 1, 1),
    "ISLITERAL": (_checked(is_literal), 1, 1),
    "ISTYPED": (_checked(lambda t: is_literal(t) and t[-1] == ">"), 1, 1),
    "ISILLTYPED": (_checked(datatypes.is_ill_typed), 1, 1),
    "ISVALUEOF": (_is_value_of, 2, 2),
    "CANONICAL": (datatypes.canonical, 1, 1),
    "STR": (lambda term: string_term(lexical(term)), 1, 1),
    "FULLSTR": (string_term, 1, 1),
    "DATATYPE": (_datatype, 1, 1),
    "LANG": (_language, 1, 1),
    "IRI": (_to_iri, 1, 1),
    "INT": (_to_integer, 1, 1),
    "DOUBLE": (lambda term: number_term(_to_float(term)), 1, 1),
    "FLOAT": (_to_single, 1, 1),
}

_OPERATORS: dict[str, Function] = {
    "=": _EQUAL,
    "!=": _NOT_EQUAL,
    "<": _LESS,
    "<=": _LESS_EQUAL,
    ">": _GREATER,
    ">=": _GREATER_EQUAL,
    "+": PLUS,
    "-": MINUS,
    "*": TIMES,
    "/": DIVIDED,
}

_STRINGS: dict[str, tuple[Function, int, int | None]] = {
    **STRING_FUNCTIONS,
    "STRREV": (text_function(lambda text: text[::-1]), 1, 1),
    "SUBSTR": (_substring, 2, 3),
    "COMPARE": (_comparison, 2, 2),
    "REGEX": (lambda text, pattern: search_all([text], [pattern])[0], 2, 2),
    "URIENCODE": (percent_encoded, 1, 1),
    "URIDECODE": (_decoded, 1, 1),
    "LEVENSHTEIN": (_distance, 2, 2),
    "STRLANG": (_with_language, 2, 2),
}

_TABLE = _GENERAL | NUMERIC | _STRINGS

# Upper-case name -> least and most number of arguments (None: any number).
FUNCTIONS: Mapping[str, tuple[int, int | None]] = MappingProxyType(
    {name: (least, most) for name, (_, least, most) in _TABLE.items()}
)

APPLY: Mapping[str, Function] = MappingProxyType(
    _OPERATORS | {name: function for name, (function, _, _) in _TABLE.items()}
)

COLUMNS: Mapping[str, Callable[..., list[Term | None]]] = MappingProxyType({"REGEX": search_all})
