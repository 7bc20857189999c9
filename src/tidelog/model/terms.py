"""Facts, and terms, which are their arguments.

Inside tidelog a term is its canonical N-Triples text, a plain `str`:

    <ann>                                   a plain name (a relative IRI, as in Nemo)
    <http://example.org/x>                  an IRI
    _:b0                                    a blank node
    "Cid"                                   a string
    "Dresden"@de                            a string with a language
    "42"^^<http://www.w3.org/2001/XMLSchema#integer>

Equal texts are equal terms: joins compare terms, never values, so `"042"^^xsd:integer` and `42` do not join.
Comparisons in rules (`=`, `<`, …) compare values; see `tidelog.rules.expressions`.

In a string only `\\`, `\"`, line feed and carriage return are escaped (canonical N-Triples).

A Python user sees a term as a *value*: `int`, `float` and `bool` for canonical numbers and booleans, `Name` and
`String` (both `str`) for plain names and strings, `IRI`, `BlankNode` and `Literal` for other terms. `to_value` and
`to_term` are inverse to each other. A bare Python `str` is read like a cell of a CSV file: as a plain name if it
looks like one, as an IRI if it has a scheme and no spaces, else as a string.

The constants for datatypes and vocabularies are IRIs without brackets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, NewType

from tidelog.errors import InputError

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"

RDF_TYPE = f"<{RDF}type>"

# Prefix of the relations that a rule set uses internally.
RULESET = "urn:tidelog:ruleset:"
_OF_ONTOLOGY = re.compile(r"owl-.*-[0-9a-f]{8}")  # see `tidelog.owl.rule_parts.predicate`
# Prefix of the auxiliary relations of rules that compute with an aggregate.
AGGREGATE_RULE = "urn:tidelog:aggregate:"

# The relation that holds RDF data.
TRIPLE = "triple"


Term = NewType("Term", str)

INTEGER, DOUBLE, DECIMAL, FLOAT = (f"{XSD}{t}" for t in ("integer", "double", "decimal", "float"))
BOOLEAN, STRING, LANG_STRING = f"{XSD}boolean", f"{XSD}string", f"{RDF}langString"

TRUE = Term(f'"true"^^<{BOOLEAN}>')
FALSE = Term(f'"false"^^<{BOOLEAN}>')

_INTEGER_TAIL = f'"^^<{INTEGER}>'
_DOUBLE_TAIL = f'"^^<{DOUBLE}>'
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
_ESCAPED = re.compile(r'[\\"\n\r]')
ESCAPED_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
ESCAPE_SEQUENCE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
# The characters of names in Turtle and SPARQL, for a regular expression: those that start a name, and all others too.
NAME_START = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
NAME_CHARACTERS = rf"{NAME_START}_0-9\-\u00b7\u0300-\u036f\u203f\u2040"
_NAME = re.compile(r"[^\W\d][\w-]*", re.UNICODE)
ABSOLUTE_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*")


class Fact(NamedTuple):
    """`parent(ann, bob)` is `Fact("parent", ("<ann>", "<bob>"))`. RDF triples are facts of `triple/3`."""

    predicate: str
    args: tuple[Term, ...]


def is_helper(predicate: str) -> bool:
    """Whether a relation is a helper: generated rules use it, and users did not name it.

    Helper relations of rule sets and compiled ontologies are stored like others, but shown only on request.
    """
    return predicate.startswith((RULESET, AGGREGATE_RULE)) or _OF_ONTOLOGY.fullmatch(predicate) is not None


def column_names(predicate: str, arity: int) -> list[str]:
    """The column names of a relation that is shown as a table."""
    return ["subject", "predicate", "object"] if predicate == TRIPLE else [f"arg{i + 1}" for i in range(arity)]


class _Text(str):
    """A `str` that equals a bare `str` with the same text, but not another kind of term with the same text."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Text) and type(other) is not type(self):
            return False
        return str.__eq__(self, other) if isinstance(other, str) else False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class Name(_Text):
    """A plain name such as `ann`; prints and compares as the bare text.

    >>> to_term(Name("ann")), Name("ann") == "ann"
    ('<ann>', True)
    """

    __slots__ = ()


class String(_Text):
    """A string value such as `"Cid"`; prints and compares as the bare text.

    >>> to_term(String("Cid")), String("Cid") == Name("Cid")
    ('"Cid"', False)
    """

    __slots__ = ()


class IRI(_Text):
    """An absolute IRI; `str(iri)` is the text without brackets.

    >>> to_term(IRI("http://example.org/x"))
    '<http://example.org/x>'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"IRI({str.__repr__(self)})"


class BlankNode(_Text):
    """A blank node; the text is its label without `_:`.

    >>> to_term(BlankNode("b0"))
    '_:b0'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"BlankNode({str.__repr__(self)})"


@dataclass(frozen=True, slots=True)
class Literal:
    """An RDF literal that is not a canonical number, boolean or plain string.

    >>> to_term(Literal("Dresden", language="de"))
    '"Dresden"@de'
    """

    text: str
    datatype: str = STRING
    language: str = ""

    def __str__(self) -> str:
        return self.text


Value = int | float | bool | str | Literal


def escape(text: str) -> str:
    return _ESCAPED.sub(lambda m: _ESCAPES[m[0]], text) if _ESCAPED.search(text) else text


def unescape(text: str) -> str:
    """The text without N-Triples escapes, which must be well formed."""

    def one(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if code[0] in "uU" else ESCAPED_CHARACTERS[code]

    return ESCAPE_SEQUENCE.sub(one, text) if "\\" in text else text


def iri(text: str) -> Term:
    """The term of an IRI or of a plain name."""
    return Term(f"<{text}>")


def integer(number: int) -> Term:
    return Term(f'"{number}{_INTEGER_TAIL}')


def double(number: float) -> Term:
    return Term(f'"{double_text(number)}{_DOUBLE_TAIL}')


def double_text(number: float) -> str:
    """The text of a double: the shortest exact text, with the names of XML Schema for infinity and NaN."""
    return {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(text := repr(number), text)


def plain_text(value: object) -> str:
    """The text of a Python value in XML Schema: `true`, `INF`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return double_text(value) if isinstance(value, float) else str(value)


def boolean(value: bool) -> Term:
    return TRUE if value else FALSE


def literal(text: str, datatype: str = STRING, language: str = "") -> Term:
    quoted = f'"{escape(text)}"'
    if language:
        return Term(f"{quoted}@{language.lower()}")  # tags compare without case
    return Term(quoted if datatype == STRING else f"{quoted}^^<{datatype}>")


def string(text: str) -> Term:
    return Term(f'"{escape(text)}"')


def is_iri(term: Term) -> bool:
    return term[0] == "<"


def is_blank(term: Term) -> bool:
    return term[0] == "_"


def is_literal(term: Term) -> bool:
    return term[0] == '"'


def split_literal(term: Term) -> tuple[str, str, str]:
    """A literal term as (text, datatype, language)."""
    end = term.rindex('"')
    text, tail = unescape(term[1:end]), term[end + 1 :]
    if not tail:
        return text, STRING, ""
    if tail[0] == "@":
        return text, LANG_STRING, tail[1:]
    return text, tail[3:-1], ""


def plain(term: Term) -> str:
    """The text of a term without brackets, quotes and datatype."""
    if term[0] == "<":
        return term[1:-1]
    return term[2:] if term[0] == "_" else split_literal(term)[0]


def to_value(term: Term) -> Value:
    """The Python value of a term; `to_term` is the inverse."""
    first = term[0]
    if first == "<":
        text = term[1:-1]
        return IRI(text) if ":" in text else Name(text)
    if first == "_":
        return BlankNode(term[2:])
    if term[-1] == '"':
        return String(unescape(term[1:-1]))
    text, datatype, language = split_literal(term)
    value = _canonical_value(text, datatype)
    return Literal(text, datatype, language) if value is None else value


def _canonical_value(text: str, datatype: str) -> Value | None:
    """The Python number or boolean; None if `to_term` would return another term."""
    try:
        if datatype == INTEGER and str(number := int(text)) == text:
            return number
        if datatype == DOUBLE and double_text(real := float(text)) == text:
            return real
    except ValueError:
        return None
    if datatype == BOOLEAN and text in ("true", "false"):
        return text == "true"
    return None


def to_term(value: object) -> Term:
    """The term of a Python value or an rdflib term; a bare `str` is read like a CSV cell."""
    if isinstance(value, bool):
        return boolean(value)
    if isinstance(value, int):
        return integer(value)
    if isinstance(value, float):
        return double(value)
    if isinstance(value, _Text):
        if isinstance(value, String):
            return string(str(value))
        return Term(f"_:{value}") if isinstance(value, BlankNode) else iri(str(value))
    if isinstance(value, Literal):
        return literal(value.text, value.datatype, value.language)
    kind = type(value).__name__
    if kind == "URIRef":
        return iri(str(value))
    if kind == "BNode":
        return Term(f"_:{value}")
    if kind == "Literal" and hasattr(value, "n3"):
        return literal(
            str(value), str(getattr(value, "datatype", None) or STRING), str(getattr(value, "language", None) or "")
        )
    if isinstance(value, str):
        return bare(value)
    if hasattr(value, "item"):  # a numpy scalar
        return to_term(value.item())
    raise InputError(
        f"cannot make a term of {value!r} ({type(value).__name__}); "
        "use int, float, bool, str or tidelog's IRI, BlankNode, Literal"
    )


def bare(text: str) -> Term:
    """The term of a bare text: a plain name, an absolute IRI, or else a string."""
    if _NAME.fullmatch(text) or ABSOLUTE_IRI.fullmatch(text):
        return iri(text)
    return string(text)
