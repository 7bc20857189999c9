"""Translates Notation3 to rules and facts over `triple`.

    { ?x :parent ?y . ?y :parent ?z } => { ?x :grandparent ?z } .
    [?x, :grandparent, ?z] :- [?x, :parent, ?y], [?y, :parent, ?z] .

In a premise, blank nodes, lists and paths become variables, and built-in predicates become conditions and assignments.
`{ … } => false` is a constraint. Statements outside of rules are facts. Datalog has no blank nodes or lists in
conclusions (each match would create a new node), and no formulae inside of formulae, so these are refused. So are
built-ins that are not in `BUILT_INS`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from itertools import product
from pathlib import Path
from types import MappingProxyType

from tidelog.languages.n3_grammar import (
    IMPLIES,
    NIL,
    SWAP,
    Blank,
    Formula,
    N3Grammar,
    N3List,
    N3Node,
    N3Scope,
    N3Triple,
    statement,
)
from tidelog.model import terms
from tidelog.model.terms import FALSE, RDF, TRIPLE, TRUE, Fact, Term
from tidelog.rules.analysis.normalise import RawAtom, RawLiteral, fresh_variables, normalise, replace_in_atom
from tidelog.rules.expressions import QUOTIENT, BuiltIn, evaluate, holds
from tidelog.rules.parsing.terms import NEGATE
from tidelog.rules.parsing.tokens import MAX_LITERALS, NAME, SourceText
from tidelog.rules.syntax import (
    Assignment,
    Atom,
    Call,
    Condition,
    Expression,
    Literal,
    Negation,
    Rule,
    RuleFile,
    Variable,
    expression_variables,
)

N3Expressions = tuple[Expression, ...]


def _text(expression: Expression) -> Expression:
    """The expression as a string: unchanged if it is a plain string, else its STR."""
    is_string = isinstance(expression, str) and terms.is_literal(expression) and expression[-1] == '"'
    return expression if is_string else Call("STR", (expression,))


def _ordered(operator: str) -> BuiltIn:
    """The test that compares two strings by code point."""
    return BuiltIn(lambda x, y: Call(operator, (Call("COMPARE", (x, y)), terms.integer(0))), 2, 2, is_test=True)


# Keys are the IRIs of the predicates without http://www.w3.org/2000/10/swap/
BUILT_INS: Mapping[str, BuiltIn] = MappingProxyType(
    {
        "math#equalTo": BuiltIn.test("="),
        "math#notEqualTo": BuiltIn.test("!="),
        "math#lessThan": BuiltIn.test("<"),
        "math#notLessThan": BuiltIn.test(">="),
        "math#greaterThan": BuiltIn.test(">"),
        "math#notGreaterThan": BuiltIn.test("<="),
        "math#sum": BuiltIn.function("SUM", 1, None),
        "math#product": BuiltIn.function("PRODUCT", 1, None),
        "math#difference": BuiltIn.function("-", 2, 2),
        "math#quotient": QUOTIENT,
        "math#remainder": BuiltIn.function("REM", 2, 2),
        "math#exponentiation": BuiltIn.function("POW", 2, 2),
        "math#negation": BuiltIn.function(NEGATE),
        "math#absoluteValue": BuiltIn.function("ABS"),
        "math#rounded": BuiltIn.function("ROUND"),
        "math#ceiling": BuiltIn.function("CEIL"),
        "math#floor": BuiltIn.function("FLOOR"),
        "math#sin": BuiltIn.function("SIN"),
        "math#cos": BuiltIn.function("COS"),
        "math#tan": BuiltIn.function("TAN"),
        "string#contains": BuiltIn.test("CONTAINS"),
        "string#containsIgnoringCase": BuiltIn.test_without_case("CONTAINS"),
        "string#startsWith": BuiltIn.test("STRSTARTS"),
        "string#endsWith": BuiltIn.test("STRENDS"),
        "string#matches": BuiltIn.test("REGEX"),
        "string#notMatches": BuiltIn(lambda x, y: Call("NOT", (Call("REGEX", (x, y)),)), 2, 2, is_test=True),
        "string#equalIgnoringCase": BuiltIn.test_without_case("="),
        "string#notEqualIgnoringCase": BuiltIn.test_without_case("!="),
        "string#lessThan": _ordered("<"),
        "string#notLessThan": _ordered(">="),
        "string#greaterThan": _ordered(">"),
        "string#notGreaterThan": _ordered("<="),
        "string#concatenation": BuiltIn(lambda *args: Call("CONCAT", tuple(map(_text, args))), 1, None),
        "string#length": BuiltIn.function("STRLEN"),
        "string#upperCase": BuiltIn.function("UCASE"),
        "string#lowerCase": BuiltIn.function("LCASE"),
        "string#encodeForURI": BuiltIn.function("URIENCODE"),
        "log#equalTo": BuiltIn.test("="),
        "log#notEqualTo": BuiltIn.test("!="),
        "log#uri": BuiltIn.function("STR"),
        "log#langlit": BuiltIn.function("STRLANG", 2, 2),
    }
)


# Built-ins of a list that is written out in the premise: the item or number that they give.
_NO_BUILT_IN = BuiltIn(lambda *args: FALSE, 0, None)
_OF_LIST: Mapping[str, Callable[[N3List], N3Node]] = MappingProxyType(
    {
        "list#length": lambda found: terms.integer(len(found.items)),
        "list#first": lambda found: found.items[0],
        "list#last": lambda found: found.items[-1],
    }
)
_BUILT_IN = re.compile(rf"<{re.escape(SWAP)}((?:math|string|list|log|time|crypto|os|graph|func)#.*)>")


def built_in_name(predicate: object) -> str | None:
    """The name of a built-in predicate, for example `math#sum`; None for other predicates."""
    match = _BUILT_IN.fullmatch(predicate) if isinstance(predicate, str) else None
    return match[1] if match else None


def shown(name: str) -> str:
    return f"`{name.replace('#', ':')}`"


_FIRST, _REST = terms.iri(f"{RDF}first"), terms.iri(f"{RDF}rest")
_SCOPE_SAMPLE = 1 << 16
_EQUAL = terms.iri(f"{SWAP}log#equalTo")
_PRINTABLE = re.compile(f"(?:{NAME})?")  # prefixes that are valid in our rule language
_PLACES = ("subject", "predicate", "object")


def parse_n3(text: str, file: str = "<text>") -> RuleFile:
    """Parse a Notation3 document."""
    return _N3Reader(text, file).read()


class _N3Reader:
    def __init__(self, text: str, file: str) -> None:
        self.source = SourceText(text, file)
        self.scope = N3Scope()
        self.program = RuleFile()
        self.data = _Data(self.source)

    def read(self) -> RuleFile:
        position, end = 0, len(self.source.text)
        while position < end:
            tokens = statement(self.source, position)
            if tokens[0].kind == "end":
                break
            for triple in N3Grammar(self.source, tokens, self.scope).read():
                self._translate(triple)
            position = tokens[-1].end
        self.program.facts = self.data.facts
        self.program.prefixes = {p: iri for p, iri in self.scope.declared.items() if _PRINTABLE.fullmatch(p)}
        return self.program

    def _translate(self, triple: N3Triple) -> None:
        if triple.predicate != IMPLIES:
            self.data.add(triple)
            return
        premise = self._triples(triple, triple.subject, TRUE)
        conclusion = self._triples(triple, triple.object, FALSE)
        if premise:
            for alternative in self._alternatives(premise):
                self._add_rule(triple, _Premise(self.source), alternative, conclusion)
        elif triple.object == FALSE:
            raise self.source.error("this rule refuses everything: its premise is empty", triple.start)
        else:
            self.data.facts += (self._certain(head, t) for head, t in self._heads(conclusion))

    def _alternatives(self, premise: tuple[N3Triple, ...]) -> Iterator[tuple[N3Triple, ...]]:
        """The premises that stand for one with `?x list:in ( … )`: one for each item of the list."""
        choices = [_items_of(triple) for triple in premise]
        if math.prod(map(len, choices)) > MAX_LITERALS:
            raise self.source.error(
                f"lists with more than {MAX_LITERALS:,} combinations; split the rule", premise[0].start
            )
        return product(*choices)

    def _triples(self, rule: N3Triple, side: N3Node, empty: Term) -> tuple[N3Triple, ...]:
        """The triples of one side of a rule; `empty` is the literal for a side without triples."""
        if side == empty:
            return ()
        if isinstance(side, Formula):
            return side.triples
        start = rule.start if isinstance(side, str | Variable) else side.start
        name = "premise" if empty == TRUE else "conclusion"
        raise self.source.error(f"expected a formula {{ … }} or {terms.plain(empty)} as the {name} of a rule", start)

    def _add_rule(
        self, rule: N3Triple, body: _Premise, premise: tuple[N3Triple, ...], conclusion: tuple[N3Triple, ...]
    ) -> None:
        literals = [literal for triple in premise for literal in body.literals(triple)]
        heads = [head for head, _ in self._heads(conclusion)]
        if len(literals) + len(heads) > MAX_LITERALS:
            raise self.source.error(f"a rule of more than {MAX_LITERALS:,} triples; split it", rule.start)
        if not heads and rule.object != FALSE:
            raise self.source.error("this rule concludes nothing; write `=> false` for a constraint", rule.start)
        new_heads, new_body = normalise(heads, literals, body.fresh)
        if any(isinstance(literal, RawAtom) for literal in literals):
            self.program.rules.append(Rule(new_heads, new_body, location=self.source.location(_start(rule))))
        else:
            self._compute(rule, new_heads, new_body)

    def _compute(self, rule: N3Triple, heads: tuple[Atom, ...], body: tuple[Literal, ...]) -> None:
        """Add the facts of a rule whose premise has only built-ins: it is computed here, once."""
        values: dict[Variable, Term] = {}
        for literal in body:
            if isinstance(literal, Atom | Negation):
                continue
            if not values.keys() >= set(expression_variables(literal.expression)):
                raise self.source.error("a variable of this premise has no value", rule.start)
            found = evaluate(literal.expression, values)
            if found is None or (isinstance(literal, Condition) and not holds(literal.expression, values)):
                return
            if isinstance(literal, Assignment):
                values[literal.variable] = found
        if not heads:
            raise self.source.error("this rule refuses everything: its premise always holds", rule.start)
        for head in heads:
            found_head = replace_in_atom(head, values)
            if any(isinstance(arg, Variable) for arg in found_head.args):
                raise self.source.error("the conclusion has a variable that the premise does not bind", rule.start)
            self.data.facts.append(Fact(TRIPLE, tuple(Term(str(arg)) for arg in found_head.args)))

    def _heads(self, conclusion: tuple[N3Triple, ...]) -> Iterator[tuple[RawAtom, N3Triple]]:
        for triple in conclusion:
            _refuse_built_in(self.source, triple, "concluded")
            nodes = (triple.subject, triple.predicate, triple.object)
            args = tuple(self._concluded(node, place, triple) for node, place in zip(nodes, _PLACES, strict=True))
            yield RawAtom(TRIPLE, args), triple

    def _concluded(self, node: N3Node, place: str, triple: N3Triple) -> Expression:
        if isinstance(node, Variable):
            return node
        if isinstance(node, str):
            return _checked_place(self.source, node, place, triple)
        if isinstance(node, Formula):
            raise _formula_error(self.source, node)
        kind = "blank node" if isinstance(node, Blank) else "list"
        raise self.source.error(
            f"a {kind} in a conclusion would be a new thing for every match; use a variable of the premise or an IRI",
            node.start,
        )

    def _certain(self, head: RawAtom, triple: N3Triple) -> Fact:
        """The fact that a rule without premise concludes."""
        if any(isinstance(arg, Variable) for arg in head.args):
            raise self.source.error("a variable in the conclusion of a rule without premise", triple.start)
        return Fact(TRIPLE, tuple(Term(str(arg)) for arg in head.args))


def _items_of(triple: N3Triple) -> list[N3Triple]:
    """For `?x list:in ( … )` and `( … ) list:member ?x` the equations of `?x` with the items; else the triple."""
    name = built_in_name(triple.predicate)
    found, item = (triple.object, triple.subject) if name == "list#in" else (triple.subject, triple.object)
    if name not in ("list#in", "list#member") or not (isinstance(found, N3List) or found == NIL):
        return [triple]
    items = found.items if isinstance(found, N3List) else ()
    return [N3Triple(item, _EQUAL, each, triple.start) for each in items]


class _Premise:
    """Builds the body of one rule. Blank nodes and list nodes become invented variables."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.fresh = fresh_variables(())  # no variable of the document starts with `_`
        self.blanks: dict[str, Variable] = {}

    def literals(self, triple: N3Triple) -> list[RawLiteral]:
        """The literals of a triple: the atoms of its lists, then its own atom or condition."""
        if triple.predicate == IMPLIES:
            raise self.source.error("a rule cannot stand inside a formula", triple.start)
        found: list[RawLiteral] = []
        name = built_in_name(triple.predicate)
        if name is None:
            nodes = (triple.subject, triple.predicate, triple.object)
            atom = RawAtom(TRIPLE, tuple(self._place(node, found) for node in nodes))
            return [*found, atom]
        condition = self._built_in(name, triple, found)
        return [*found, condition]

    def _place(self, node: N3Node, found: list[RawLiteral]) -> Expression:
        if isinstance(node, str | Variable):
            return node
        if isinstance(node, Blank):
            if node.label not in self.blanks:
                self.blanks[node.label] = next(self.fresh)
            return self.blanks[node.label]
        if isinstance(node, Formula):
            raise _formula_error(self.source, node)
        return self._list(node, found)

    def _list(self, node: N3List, found: list[RawLiteral]) -> Variable:
        """Add the rdf:first and rdf:rest atoms of a list to `found`; return the variable of its first node."""
        places = [next(self.fresh) for _ in node.items]
        rests: list[Expression] = [*places[1:], NIL]
        for item, place, rest in zip(node.items, places, rests, strict=True):
            found.append(RawAtom(TRIPLE, (place, _FIRST, self._place(item, found))))
            found.append(RawAtom(TRIPLE, (place, _REST, rest)))
        return places[0]

    def _built_in(self, name: str, triple: N3Triple, found: list[RawLiteral]) -> Condition:
        built_in = BUILT_INS.get(name, _NO_BUILT_IN)
        subject = triple.subject
        if name in _OF_LIST and isinstance(subject, N3List):
            item = self._place(_OF_LIST[name](subject), found)
            return Condition(Call("=", (self._place(triple.object, found), item)))
        if built_in is _NO_BUILT_IN:
            raise self.source.error(f"the built-in {shown(name)} is not supported", triple.start)
        given = subject.items if isinstance(subject, N3List) and not built_in.is_test else (subject,)
        args = [self._place(node, found) for node in given]
        result = self._place(triple.object, found)
        if built_in.is_test:
            return Condition(built_in.compute(*args, result))
        self._check_count(name, len(args), triple)
        return Condition(Call("=", (result, built_in.compute(*args))))

    def _check_count(self, name: str, count: int, triple: N3Triple) -> None:
        least, most = BUILT_INS[name].least, BUILT_INS[name].most
        if count < least or (most is not None and count > most):
            wanted = str(least) if least == most else f"at least {least}"
            raise self.source.error(
                f"{shown(name)} takes {wanted} argument{'s' * (wanted != '1')}, not {count}", triple.start
            )


class _Data:
    """Collects the facts of a document. Labels of blank nodes are unique to the document."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.facts: list[Fact] = []
        self.numbers: dict[object, int] = {}
        sample = f"{Path(source.file).name}\0{source.text[:_SCOPE_SAMPLE]}"
        self.label = f"_:n{blake2b(sample.encode(), digest_size=5).hexdigest()}"

    def add(self, triple: N3Triple) -> None:
        _refuse_built_in(self.source, triple, "stated")
        nodes = (triple.subject, triple.predicate, triple.object)
        args = tuple(self._term(node, place, triple) for node, place in zip(nodes, _PLACES, strict=True))
        self.facts.append(Fact(TRIPLE, args))

    def _term(self, node: N3Node, place: str, triple: N3Triple) -> Term:
        if isinstance(node, str):
            return _checked_place(self.source, node, place, triple)
        if isinstance(node, Variable):
            raise self.source.error(f"the variable {node} stands outside of a rule", triple.start)
        if isinstance(node, Formula):
            raise _formula_error(self.source, node)
        if isinstance(node, N3List):
            return self._list(node, triple)
        return _checked_place(self.source, self._blank(node.label), place, triple)

    def _blank(self, key: object) -> Term:
        return Term(f"{self.label}_{self.numbers.setdefault(key, len(self.numbers))}")

    def _list(self, node: N3List, triple: N3Triple) -> Term:
        places = [self._blank((node.start, number)) for number in range(len(node.items))]
        for item, place, rest in zip(node.items, places, [*places[1:], NIL], strict=True):
            self.facts.append(Fact(TRIPLE, (place, _FIRST, self._term(item, "object", triple))))
            self.facts.append(Fact(TRIPLE, (place, _REST, rest)))
        return places[0]


def _checked_place(source: SourceText, term: Term, place: str, triple: N3Triple) -> Term:
    """Return the term, or raise an error if RDF does not allow it as `place`."""
    if terms.is_literal(term) and place != "object":
        raise source.error(f"a literal cannot be the {place} of a triple", triple.start)
    if terms.is_blank(term) and place == "predicate":
        raise source.error("a blank node cannot be the predicate of a triple", triple.start)
    return term


def _refuse_built_in(source: SourceText, triple: N3Triple, verb: str) -> None:
    """Raise an error if the predicate is a built-in or an implication."""
    if triple.predicate == IMPLIES:
        raise source.error("a rule cannot stand inside a formula", triple.start)
    if name := built_in_name(triple.predicate):
        raise source.error(f"{shown(name)} is a built-in and cannot be {verb}; use it in a premise", triple.start)


def _formula_error(source: SourceText, node: Formula) -> Exception:
    return source.error("a formula may only be the premise or the conclusion of a rule", node.start)


def _start(rule: N3Triple) -> int:
    """The offset at which a rule starts."""
    places = [node.start for node in (rule.subject, rule.object) if isinstance(node, Formula)]
    return min([rule.start, *places])
