"""Datatypes as OWL 2 RL and RDF need them: well-formed literals, the types of a value, identity of values.

    canonical(literal)         the canonical literal with the same value
    has_type(literal, type)    whether the value belongs to the datatype
    is_ill_typed(literal)      whether the text is wrong for its datatype

Two literals denote the same data value if their canonical literals are the same. Identity is stricter than the `=` of
rules: `1` and `1.0E0` are equal numbers, but a decimal and a double, so two data values. The two zeros of xsd:double
and one moment in two time zones are also two values. A literal of a datatype outside of `DATATYPES` is identical only
to itself. An ill-typed literal has no value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from xml.etree import ElementTree

from tidelog.model.terms import (
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    LANG_STRING,
    RDF,
    RDFS,
    STRING,
    XSD,
    Term,
    boolean,
    double_text,
    is_iri,
    is_literal,
    literal,
    split_literal,
    string,
)
from tidelog.values.literals import (
    DECIMAL_TEXT,
    INTEGER_TEXT,
    INTEGER_TYPES,
    LANGUAGE_TAG,
    decimal_text,
    float_value,
    in_range,
    moment,
    nearest_single,
    single_text,
    truth,
)

LITERAL = f"{RDFS}Literal"
PLAIN_LITERAL, XML_LITERAL = f"{RDF}PlainLiteral", f"{RDF}XMLLiteral"
_RATIONAL_TYPES = (f"{XSD}dateTime", f"{XSD}dateTimeStamp")
_LONGEST = 10_000  # characters; a longer literal is its own canonical literal, unless it is a string

# Name characters of XML. Unicode word characters stand in for the rarer ranges of the standard.
_NAME_START, _NAME_MORE = r"[^\W\d]", r"[\w.·-]"
_TEXTS: dict[str, re.Pattern[str]] = {
    STRING: re.compile(r"(?s).*"),
    f"{XSD}normalizedString": re.compile(r"[^\t\n\r]*"),
    f"{XSD}token": re.compile(r"(?:[^\s]+(?: [^\s]+)*)?"),
    f"{XSD}language": LANGUAGE_TAG,
    f"{XSD}NMTOKEN": re.compile(rf"(?:{_NAME_MORE}|:)+"),
    f"{XSD}Name": re.compile(rf"(?:{_NAME_START}|:)(?:{_NAME_MORE}|:)*"),
    f"{XSD}NCName": re.compile(rf"{_NAME_START}{_NAME_MORE}*"),
}
_ANY_URI = f"{XSD}anyURI"
_URI_TEXT = re.compile(r"[^\s<>\"{}|\\^`]*")
# RFC 3987: scheme, host with an optional port, path and query, fragment; before a colon in the first step is a scheme.
_URI_PARTS = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*:|(?![^/?#]*:))"
    r"(?://(?:[^/?#\[\]@]*@)?(?:\[[0-9A-Za-z:.]*\]|(?:[^/?#\[\]:%]|%[0-9A-Fa-f]{2})*)(?::[0-9]*)?(?=[/?#]|\Z)|(?!//))"
    r"(?:[^#\[\]%]|%[0-9A-Fa-f]{2})*(?:#(?:[^#\[\]%]|%[0-9A-Fa-f]{2})*)?"
)
_HEX, _BASE64 = f"{XSD}hexBinary", f"{XSD}base64Binary"
_HEX_TEXT = re.compile(r"(?:[0-9A-Fa-f]{2})*")
_BASE64_TEXT = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_FLOATS = (FLOAT, DOUBLE)


def canonical(term: Term) -> Term | None:
    """The canonical literal with the same value; None for an ill-typed literal and for a term that is no literal."""
    if term[0] != '"':
        return None
    if term[-1] == '"':
        return term
    text, datatype, language = split_literal(term)
    if datatype == LANG_STRING:
        return term if language else None
    if len(text) > _LONGEST and datatype not in _TEXTS:
        return term
    make = _CANONICAL.get(datatype)
    return term if make is None else make(text, datatype)


def _string(text: str, datatype: str) -> Term | None:
    return string(text) if _TEXTS[datatype].fullmatch(text) else None


def _decimal(text: str, datatype: str) -> Term | None:
    """The canonical literal of a whole number is an integer, whatever its own type."""
    pattern = DECIMAL_TEXT if datatype == DECIMAL else INTEGER_TEXT
    if not pattern.fullmatch(text):
        return None
    plain = decimal_text(Decimal(text))
    if datatype != DECIMAL and not in_range(Decimal(plain), datatype):
        return None
    return literal(plain, DECIMAL if "." in plain else INTEGER)


def _float(text: str, datatype: str) -> Term | None:
    if text == "NaN":
        return literal(text, datatype)
    value = float_value(text)
    if value is None:
        return None
    single = nearest_single(value)
    if math.isinf(value if datatype == DOUBLE else single) and text[-1] != "F":
        return None  # the text is a number, and the datatype has no value so large
    return literal(double_text(value) if datatype == DOUBLE else single_text(single), datatype)


def _boolean(text: str, datatype: str) -> Term | None:
    value = truth(literal(text, datatype))
    return None if value is None else boolean(value)


def _moment(text: str, datatype: str) -> Term | None:
    """Removes trailing zeros of the seconds. Another time zone is another value."""
    if moment(literal(text, datatype)) is None or (datatype.endswith("Stamp") and not _ZONED.search(text)):
        return None
    shortened = _FRACTION.sub(lambda m: "" if m[1] == "." else m[1], text)
    return literal(re.sub(r"[+-]00:00\Z", "Z", shortened), f"{XSD}dateTime")


_ZONED = re.compile(r"(?:Z|[+-][0-9]{2}:[0-9]{2})\Z")
_FRACTION = re.compile(r"(\.[0-9]*?)0+(?=Z|[+-][0-9]{2}:|\Z)")


def _uri(text: str, datatype: str) -> Term | None:
    return literal(text, datatype) if _URI_TEXT.fullmatch(text) and _URI_PARTS.fullmatch(text) else None


def _hex(text: str, datatype: str) -> Term | None:
    return literal(text.upper(), datatype) if _HEX_TEXT.fullmatch(text) else None


def _base64(text: str, datatype: str) -> Term | None:
    joined = text.replace(" ", "")
    return literal(joined, datatype) if _BASE64_TEXT.fullmatch(joined) else None


def _xml(text: str, datatype: str) -> Term | None:
    """XML content in canonical form. It is parsed inside of an element, so it cannot declare entities."""
    try:
        whole = ElementTree.canonicalize(f"<_>{text}</_>")
    except (ElementTree.ParseError, ValueError):
        return None
    return literal(whole.removeprefix("<_>").removesuffix("</_>"), datatype)


def _tagged(text: str, datatype: str) -> Term | None:
    """`"chat@fr"^^rdf:PlainLiteral` is `"chat"@fr`."""
    start, at, language = text.rpartition("@")
    if not at or (language and not LANGUAGE_TAG.fullmatch(language)):
        return None
    return literal(start, language=language) if language else string(start)


_CANONICAL: dict[str, Callable[[str, str], Term | None]] = {
    **dict.fromkeys(_TEXTS, _string),
    **dict.fromkeys((DECIMAL, *INTEGER_TYPES), _decimal),
    **dict.fromkeys(_FLOATS, _float),
    **dict.fromkeys(_RATIONAL_TYPES, _moment),
    BOOLEAN: _boolean,
    _ANY_URI: _uri,
    _HEX: _hex,
    _BASE64: _base64,
    PLAIN_LITERAL: _tagged,
    XML_LITERAL: _xml,
}
# All datatypes whose values are known.
DATATYPES = (*_CANONICAL, LANG_STRING, LITERAL)


def has_type(term: Term, datatype: Term) -> bool | None:
    """Whether the value of the literal belongs to the datatype; None if one of the two is not known."""
    name = datatype[1:-1]
    if not is_literal(term) or not is_iri(datatype) or name not in DATATYPES:
        return None
    value = canonical(term)
    if value is None:
        return False
    text, own, language = split_literal(value)
    if own not in DATATYPES:
        return None
    if name in (LITERAL, LANG_STRING, PLAIN_LITERAL):
        return name == LITERAL or bool(language) or (name == PLAIN_LITERAL and own == STRING)
    return _same_kind(own, name) and _CANONICAL[name](text, name) == value


def _same_kind(own: str, name: str) -> bool:
    """Whether both datatypes are read by the same function, and texts of one may be texts of the other."""
    kind = _CANONICAL.get(name)
    return kind is not None and kind is _CANONICAL.get(own) and (kind is not _float or own == name)


def is_ill_typed(term: Term) -> bool:
    return is_literal(term) and canonical(term) is None
