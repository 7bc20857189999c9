"""Translates RuleML Datalog (XML) to rules and facts.

    <Implies>                                                    own(?person, ?object) :- buy(?person, ?object) .
      <if><Atom><Rel>buy</Rel><Var>person</Var><Var>object</Var></Atom></if>
      <then><Atom><Rel>own</Rel><Var>person</Var><Var>object</Var></Atom></then>
    </Implies>

The element names of version 1 (`if`, `then`), 0.9 (`body`, `head`) and 0.8 (`imp`, `_body`, `_head`) are known. `Naf`
is our negation and `Equal` is a comparison. Other elements beyond Datalog are refused by name.

The document is read as one small tree per clause, so a rulebase of any length needs little memory. Document types are
refused, because their entities can make a small file huge. Deep nesting is refused, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from xml.parsers import expat

from tidelog.errors import Location, ParseError
from tidelog.model import terms
from tidelog.model.terms import NOT_IN_IRI, XSD, Fact, Term
from tidelog.rules.analysis.normalise import RawAtom, RawLiteral, RawNegation, fresh_variables, normalise
from tidelog.rules.parsing.tokens import MAX_DEPTH, MAX_LITERALS, MAX_TOKEN, SourceText
from tidelog.rules.syntax import Call, Condition, Rule, RuleFile, Variable

MAX_CHILDREN = 1_000
_LINE_END = re.compile(r"\r\n|\r|\n")
_PIECE = 1 << 20
_LONGEST_SHOWN = 2_000
# Elements that contain clauses. `And` at the top contains clauses; inside of a clause it is a conjunction.
CONTAINERS = frozenset({"RuleML", "Assert", "Rulebase", "rulebase", "act", "formula", "And", "and"})


@dataclass(slots=True)
class Element:
    """An XML element. `name` is the name as written, without namespace."""

    name: str
    attributes: dict[str, str]
    line: int
    column: int
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Elements:
    """Reads a document and calls `take` with every clause, an element whose name is in `clauses`."""

    def __init__(self, text: str, file: str, clauses: frozenset[str], take: Callable[[Element], None]) -> None:
        self.text, self.file = text, file
        self.clauses, self.take = clauses, take
        self.namespaces: dict[str, str] = {}  # prefix -> namespace, by the last declaration
        self._open: list[Element] = []
        self._inside = 0  # the number of open elements that belong to a clause
        self._parser = expat.ParserCreate("utf-8", " ")
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartNamespaceDeclHandler = self._namespace
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters

    def read(self) -> None:
        SourceText(self.text, self.file)  # refuses unpaired surrogates
        try:
            for start in range(0, len(self.text), _PIECE):
                self._parser.Parse(self.text[start : start + _PIECE].encode())
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            problem = expat.ErrorString(error.code)
            raise self._error(f"not well-formed XML: {problem}", error.lineno, error.offset + 1) from None

    def error(self, message: str, element: Element) -> ParseError:
        return self._error(message, element.line, element.column)

    def location(self, element: Element) -> Location:
        """The location of an element, without the text of the line, which only errors show."""
        return Location(self.file, element.line, element.column)

    def _error(self, message: str, line: int, column: int) -> ParseError:
        lines = _LINE_END.split(self.text)
        shown = lines[line - 1][:_LONGEST_SHOWN] if line <= len(lines) else ""
        return ParseError(message, Location(self.file, line, column, shown if column <= len(shown) + 1 else ""))

    def _here(self, message: str) -> ParseError:
        return self._error(message, self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1)

    def _doctype(self, *_: object) -> None:
        raise self._here("a document type declaration is refused, because it may declare entities; remove it")

    def _namespace(self, prefix: str | None, uri: str | None) -> None:
        self.namespaces[prefix or ""] = uri or ""

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parser = self._parser
        element = Element(
            _local(name), {_local(n): v for n, v in attributes.items()}, parser.CurrentLineNumber,
            parser.CurrentColumnNumber + 1,
        )  # fmt: skip
        if len(self._open) >= MAX_DEPTH:
            raise self.error(f"elements are nested more than {MAX_DEPTH} deep", element)
        if self._inside:
            self._attach(element)
        elif element.name not in CONTAINERS | self.clauses:
            raise self.error(f"<{element.name}> is not supported here", element)
        if self._inside or element.name not in CONTAINERS:
            self._inside += 1
        self._open.append(element)

    def _attach(self, element: Element) -> None:
        siblings = self._open[-1].children
        if len(siblings) >= MAX_CHILDREN:
            raise self.error(f"more than {MAX_CHILDREN:,} elements in one <{self._open[-1].name}>; split it", element)
        siblings.append(element)

    def _end(self, _: str) -> None:
        element = self._open.pop()
        if element.children and element.text.strip():
            raise self.error(f"text is not expected in <{element.name}>: {element.text.strip()[:40]!r}", element)
        if self._inside:
            self._inside -= 1
            if not self._inside:
                self.take(element)

    def _characters(self, text: str) -> None:
        element = self._open[-1]
        if not self._inside:
            if text.strip():
                raise self._here(f"text is not expected in <{element.name}>: {text.strip()[:40]!r}")
            return
        element.pieces.append(text)
        element.length += len(text)
        if element.length > MAX_TOKEN:
            raise self.error(
                f"a text of more than {MAX_TOKEN:,} characters; load large values from a data file", element
            )


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


# Element names of older versions -> names of version 1.
_MODERN = {
    "imp": "Implies",
    "_head": "then",
    "head": "then",
    "_body": "if",
    "body": "if",
    "and": "And",
    "atom": "Atom",
    "_opr": "op",
    "rel": "Rel",
    "var": "Var",
    "ind": "Ind",
    "naf": "Naf",
    "_rlab": "oid",
    "_rbaselab": "oid",
    "label": "oid",
}
_CLAUSES = frozenset({"Implies", "imp", "Atom", "atom", "fact", "Forall", "oid", "label", "_rbaselab"})
_ROLES = ("formula", "arg", "left", "right", "weak", "And")
_IRI_ATTRIBUTES = ("iri", "uri", "href")
_BUILT_INS = "http://www.w3.org/2003/11/swrlb#"


def parse_ruleml(text: str, file: str = "<text>") -> RuleFile:
    """Parse a RuleML document."""
    return _RuleMLReader(text, file).read()


class _RuleMLReader:
    def __init__(self, text: str, file: str) -> None:
        self.elements = Elements(text, file, _CLAUSES, self._clause)
        self.program = RuleFile()

    def read(self) -> RuleFile:
        self.elements.read()
        return self.program

    def _clause(self, element: Element) -> None:
        match _name(element):
            case "Implies":
                self._implication(element)
            case "Atom":
                self._facts([element], element)
            case "fact":
                self._facts(_members(_only(element, "then", self.elements).children), element)
            case "Forall":  # all variables of a clause are universal, so this adds nothing
                for inner in _members(c for c in element.children if _name(c) not in ("Var", "declare")):
                    self._clause(inner)
            case "oid":  # the name of a rulebase
                pass
            case _:
                raise self.elements.error(f"<{element.name}> is not supported here", element)

    def _facts(self, atoms: Iterable[Element], clause: Element) -> None:
        for atom in atoms:
            found = _Clause(self.elements).atom(atom, "conclusion")
            args = tuple(arg for arg in found.args if isinstance(arg, str))
            if len(args) < len(found.args):
                raise self.elements.error(
                    "a fact cannot hold a variable; a rule is an <Implies> with a premise", clause
                )
            self.program.facts.append(Fact(found.predicate, args))

    def _implication(self, element: Element) -> None:
        premise, conclusion = self._sides(element)
        if len(premise) + len(conclusion) > MAX_LITERALS:
            raise self.elements.error(f"a rule of more than {MAX_LITERALS:,} atoms; split it", element)
        if not conclusion:
            raise self.elements.error("this rule concludes nothing", element)
        if not premise:
            self._facts(conclusion, element)
            return
        clause = _Clause(self.elements)
        body = [clause.literal(e) for e in premise]
        heads = [clause.atom(e, "conclusion") for e in conclusion]
        new_heads, new_body = normalise(heads, body, clause.fresh)
        location = self.elements.location(element)
        self.program.rules.append(Rule(new_heads, new_body, name=_label(element), location=location))

    def _sides(self, element: Element) -> tuple[list[Element], list[Element]]:
        """The formulae of premise and conclusion. Without role elements the premise comes first."""
        parts = _without_label(element)
        names = {_name(part) for part in parts}
        if len(parts) == 2 and not {"if", "then"} & names:
            return _members(parts[:1]), _members(parts[1:])
        premise, conclusion = (_only(element, role, self.elements) for role in ("if", "then"))
        if len(parts) > 2:
            extra = next(p for p in parts if p is not premise and p is not conclusion)
            raise self.elements.error(
                f"<{extra.name}> is not supported in a rule beside its premise and conclusion", extra
            )
        return _members(premise.children), _members(conclusion.children)


class _Clause:
    """Reads the formulae of one clause, which share their variables."""

    def __init__(self, elements: Elements) -> None:
        self.elements = elements
        self.fresh = fresh_variables(())  # no variable of the document starts with `_`
        self.variables: dict[str, Variable] = {}

    def literal(self, element: Element) -> RawLiteral:
        match _name(element):
            case "Naf":
                return self._negation(element)
            case "Equal":
                return self._equation(element)
        return self.atom(element, "premise")

    def _negation(self, element: Element) -> RawNegation:
        inner = _members(element.children)
        if len(inner) != 1:
            raise self.elements.error(f"<{element.name}> negates one <Atom>, not {len(inner)}", element)
        return RawNegation(self.atom(inner[0], "premise"))

    def _equation(self, element: Element) -> Condition:
        sides = tuple(self._term(e) for e in _members(element.children))
        if len(sides) != 2:
            raise self.elements.error(f"<Equal> compares two terms, not {len(sides)}", element)
        return Condition(Call("=", sides))

    def atom(self, element: Element, side: str) -> RawAtom:
        if _name(element) != "Atom":
            raise self.elements.error(
                f"<{element.name}> is not supported in a {side}; Datalog has <Atom> and <And>", element
            )
        parts = [p for c in _without_label(element) for p in (c.children if _name(c) == "op" else [c])]
        relations = [p for p in parts if _name(p) == "Rel"]
        if len(relations) != 1:
            raise self.elements.error(f"an atom has one <Rel>, not {len(relations)}", element)
        predicate = self._predicate(relations[0])
        arguments = _members(p for p in parts if p is not relations[0])
        return RawAtom(predicate, tuple(self._term(a) for a in arguments))

    def _predicate(self, element: Element) -> str:
        predicate = self._iri(element) or self._text(element)
        if predicate.startswith(_BUILT_INS):
            name = predicate.removeprefix(_BUILT_INS)
            raise self.elements.error(f"the built-in `swrlb:{name}` is not supported in RuleML", element)
        if NOT_IN_IRI.search(predicate):
            raise self.elements.error(
                f"a relation cannot be called {predicate[:40]!r}: use letters, digits and _", element
            )
        return predicate

    def _term(self, element: Element) -> Variable | Term:
        match _name(element):
            case "Var":
                return self._variable(element)
            case "Ind":
                found = self._iri(element)
                return terms.bare(self._text(element)) if found is None else terms.iri(found)
            case "Data":
                return self._data(element)
        message = f"<{element.name}> is not supported as an argument; Datalog has <Var>, <Ind> and <Data>"
        raise self.elements.error(message, element)

    def _variable(self, element: Element) -> Variable:
        """The variable of a `<Var>`; a new one if it has no name. Characters that our names cannot have become `_`."""
        text = element.text.strip()
        if not text:
            return next(self.fresh)
        if text not in self.variables:
            name = re.sub(r"\W", "_", text)
            name = name if name[0].isalpha() else f"v{name}"
            while Variable(name) in self.variables.values():
                name += "_"
            self.variables[text] = Variable(name)
        return self.variables[text]

    def _data(self, element: Element) -> Term:
        datatype = element.attributes.get("type")
        if datatype is None:
            return terms.string(element.text)
        prefix, colon, local = datatype.rpartition(":")
        namespace = self.elements.namespaces.get(prefix, "")
        if not colon or namespace.rstrip("#") != XSD.rstrip("#") or not local.isalnum():
            raise self.elements.error(f"the type {datatype!r} is none of XML Schema's, such as xs:integer", element)
        return terms.literal(element.text.strip(), f"{XSD}{local}")

    def _iri(self, element: Element) -> str | None:
        found = next((element.attributes[n] for n in _IRI_ATTRIBUTES if n in element.attributes), None)
        if found is not None and (not found or NOT_IN_IRI.search(found)):
            raise self.elements.error(f"{found[:40]!r} is no IRI", element)
        return found

    def _text(self, element: Element) -> str:
        if not element.text.strip():
            raise self.elements.error(f"<{element.name}> has no text", element)
        return " ".join(element.text.split())


def _name(element: Element) -> str:
    return _MODERN.get(element.name, element.name)


def _members(parts: Iterable[Element]) -> list[Element]:
    """The formulae inside of role elements and conjunctions, at any depth."""
    return [m for p in parts for m in (_members(p.children) if _name(p) in _ROLES else [p])]


def _without_label(element: Element) -> list[Element]:
    return [c for c in element.children if _name(c) != "oid"]


def _only(element: Element, role: str, elements: Elements) -> Element:
    found = [c for c in element.children if _name(c) == role]
    if len(found) != 1:
        raise elements.error(f"expected one <{role}> in <{element.name}>, found {len(found)}", element)
    return found[0]


def _label(element: Element) -> str | None:
    """The name of a rule: all text in its label."""
    label = next((c for c in element.children if _name(c) == "oid"), None)
    texts = [label.text, *(c.text for c in label.children)] if label else []
    return " ".join(" ".join(texts).split()) or None
