"""Reads SWRL rules from RDF (swrl:Imp). Errors name the rule and the atom.

Our functions compute the built-ins (swrlb:). A test is a condition on its arguments. In `swrlb:add(?z, ?x, ?y)` the
first argument is the result: it is assigned if no other atom binds it, else it is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from tidelog.errors import RuleError
from tidelog.model.terms import Term, is_iri, is_literal, plain
from tidelog.owl.axioms import ClassAtom, EqualAtom, Implication, RuleAtom
from tidelog.owl.expressions import (
    DIFFERENT_FROM,
    SWRL_BUILTINS,
    THING,
    TYPE,
    ClassExpression,
    ClassReader,
    Datatype,
    MalformedError,
    OntologyGraph,
    Property,
    RuleTerm,
    inner,
    local,
    rdfs,
    swrl,
)
from tidelog.rules.expressions import QUOTIENT, BuiltIn
from tidelog.rules.printer import format_term
from tidelog.rules.syntax import Assignment, Atom, Call, Condition, Variable, literal_variables

BUILTINS: dict[str, BuiltIn] = {
    "equal": BuiltIn.test("="),
    "notEqual": BuiltIn.test("!="),
    "lessThan": BuiltIn.test("<"),
    "lessThanOrEqual": BuiltIn.test("<="),
    "greaterThan": BuiltIn.test(">"),
    "greaterThanOrEqual": BuiltIn.test(">="),
    "contains": BuiltIn.test("CONTAINS"),
    "startsWith": BuiltIn.test("STRSTARTS"),
    "endsWith": BuiltIn.test("STRENDS"),
    "matches": BuiltIn.test("REGEX"),
    "containsIgnoreCase": BuiltIn.test_without_case("CONTAINS"),
    "stringEqualIgnoreCase": BuiltIn.test_without_case("="),
    "add": BuiltIn.function("SUM", 2, None),
    "subtract": BuiltIn.function("-", 2, 2),
    "multiply": BuiltIn.function("PRODUCT", 2, None),
    "divide": QUOTIENT,
    "integerDivide": BuiltIn.function("/", 2, 2),
    "mod": BuiltIn.function("REM", 2, 2),
    "pow": BuiltIn.function("POW", 2, 2),
    "unaryPlus": BuiltIn(lambda x: x, 1, 1),
    "unaryMinus": BuiltIn.function("INVERTSIGN"),
    "abs": BuiltIn.function("ABS"),
    "ceiling": BuiltIn.function("CEIL"),
    "floor": BuiltIn.function("FLOOR"),
    "round": BuiltIn.function("ROUND"),
    "sin": BuiltIn.function("SIN"),
    "cos": BuiltIn.function("COS"),
    "tan": BuiltIn.function("TAN"),
    "stringConcat": BuiltIn(lambda *args: Call("CONCAT", tuple(Call("STR", (a,)) for a in args)), 1, None),
    "substring": BuiltIn.function("SUBSTR", 2, 3),
    "stringLength": BuiltIn.function("STRLEN"),
    "upperCase": BuiltIn.function("UCASE"),
    "lowerCase": BuiltIn.function("LCASE"),
    "substringBefore": BuiltIn.function("STRBEFORE", 2, 2),
    "substringAfter": BuiltIn.function("STRAFTER", 2, 2),
    "booleanNot": BuiltIn.function("NOT"),
}


_INSTEAD = "write this rule in tidelog's rule language instead, or take it out of the file"


@dataclass(frozen=True, slots=True)
class _Computed:
    """A built-in atom. Its literal depends on the variables that other atoms bind."""

    name: str
    builtin: BuiltIn
    args: tuple[RuleTerm, ...]

    def inputs(self) -> tuple[RuleTerm, ...]:
        return self.args if self.builtin.is_test else self.args[1:]

    def problem(self) -> str | None:
        """What is wrong with the number of arguments, if anything."""
        results = int(not self.builtin.is_test)
        least, most = self.builtin.least + results, self.builtin.most and self.builtin.most + results
        if len(self.args) >= least and (most is None or len(self.args) <= most):
            return None
        wanted = f"at least {least}" if most is None else str(least) if most == least else f"{least} or {most}"
        return f"has {len(self.args)} arguments, {wanted} are expected"

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(format_term, self.args))})"


def read_implications(graph: OntologyGraph, classes: ClassReader) -> Iterator[Implication]:
    """Read the SWRL rules of a graph."""
    for node in graph.instances(swrl("Imp")):
        yield _RuleReader(graph, classes, node).read()


class _RuleReader:
    """Reads one SWRL rule."""

    def __init__(self, graph: OntologyGraph, classes: ClassReader, node: Term) -> None:
        self.graph = graph
        self.classes = classes
        self.node = node
        label = graph.value(node, rdfs("label"))
        self.label = plain(label) if label else local(node)
        self.names: dict[Term, Variable] = {}

    def read(self) -> Implication:
        body = [self._atom(node) for node in self._list("body")]
        head = [self._atom(node) for node in self._list("head")]
        texts = [" ^ ".join(text for _, text in part) for part in (body, head)]
        label = f"{self.label}: " if is_iri(self.node) or rdfs("label") in self.graph.predicates(self.node) else ""
        atoms = tuple(self._literals([atom for atom, _ in body]))
        self._check_head(head, atoms)
        found = tuple(atom for atom, _ in head if not isinstance(atom, _Computed))
        return Implication(f"{label}{' -> '.join(texts)}", atoms, found)

    def _error(self, problem: str) -> RuleError:
        return RuleError(f"SWRL rule {self.label!r}: {problem}")

    def _list(self, part: str) -> tuple[Term, ...]:
        start = self.graph.value(self.node, swrl(part))
        try:
            return () if start is None else self.graph.members(start)
        except MalformedError as error:
            raise self._error(f"its {part}: {error}") from None

    def _atom(self, node: Term) -> tuple[RuleAtom | _Computed, str]:
        """Read an atom; return it and its text."""
        kinds = self.graph.objects(node, TYPE)
        if swrl("BuiltinAtom") in kinds:
            computed = self._builtin(node)
            return computed, str(computed)
        if swrl("ClassAtom") in kinds or swrl("DataRangeAtom") in kinds:
            return self._class_atom(node, "classPredicate" if swrl("ClassAtom") in kinds else "dataRange")
        if swrl("IndividualPropertyAtom") in kinds or swrl("DatavaluedPropertyAtom") in kinds:
            return self._property_atom(node, self.classes.property(self._value(node, "propertyPredicate")))
        if swrl("SameIndividualAtom") in kinds:
            same = EqualAtom(self._argument(node, "argument1"), self._argument(node, "argument2"))
            return same, f"sameAs({format_term(same.first)}, {format_term(same.second)})"
        if swrl("DifferentIndividualsAtom") in kinds:
            return self._property_atom(node, Property(DIFFERENT_FROM))
        names = ", ".join(map(local, kinds)) or "no type"
        raise self._error(f"atom {local(node)} has {names}, which is no kind of SWRL atom")

    def _class_atom(self, node: Term, role: str) -> tuple[RuleAtom, str]:
        of = self.classes.expression(self._value(node, role))
        place = self._argument(node, "argument1")
        return ClassAtom(of, place), f"{inner(of)}({format_term(place)})"

    def _property_atom(self, node: Term, over: Property) -> tuple[Atom, str]:
        x, y = self._argument(node, "argument1"), self._argument(node, "argument2")
        return over.atom(x, y), f"{over}({format_term(x)}, {format_term(y)})"

    def _builtin(self, node: Term) -> _Computed:
        term = self._value(node, "builtin")
        builtin = BUILTINS.get(local(term)) if term.startswith(f"<{SWRL_BUILTINS}") else None
        if builtin is None:
            close = get_close_matches(local(term), BUILTINS, n=1)
            hint = f"; did you mean swrlb:{close[0]}?" if close else ""
            raise self._error(f"atom {local(term)}(…): there is no such built-in here{hint}; {_INSTEAD}")
        try:
            args = tuple(map(self._place, self.graph.members(self._value(node, "arguments"))))
        except MalformedError as error:
            raise self._error(f"atom {local(term)}(…): {error}") from None
        computed = _Computed(local(term), builtin, args)
        if problem := computed.problem():
            raise self._error(f"atom {computed} {problem}")
        return computed

    def _value(self, node: Term, role: str) -> Term:
        value = self.graph.value(node, swrl(role))
        if value is None:
            raise self._error(f"atom {local(node)} has no swrl:{role}")
        return value

    def _argument(self, node: Term, role: str) -> RuleTerm:
        return self._place(self._value(node, role))

    def _place(self, term: Term) -> RuleTerm:
        if is_literal(term) or not self.graph.has_type(term, swrl("Variable")):
            return term
        if term not in self.names:
            wanted = re.sub(r"\W", "_", local(term) if is_iri(term) else "b")
            taken = {v.name for v in self.names.values()}
            spelled = (wanted, *(f"{wanted}{n}" for n in range(2, len(taken) + 3)))
            self.names[term] = Variable(next(name for name in spelled if name not in taken))
        return self.names[term]

    def _literals(self, atoms: Iterable[RuleAtom | _Computed]) -> Iterator[RuleAtom]:
        """The body with assignments and conditions for the built-ins, each after the literals that bind its inputs."""
        waiting = [a for a in atoms if isinstance(a, _Computed)]
        others = [a for a in atoms if not isinstance(a, _Computed)]
        yield from others
        bound = {v for atom in others for v in _binds(atom)}
        while waiting:
            ready = [(atom, literal) for atom in waiting if (literal := _literal(atom, bound))][:1]
            if not ready:
                raise self._error(f"atom {waiting[0]} needs values that no other atom binds")
            for atom, literal in ready:
                waiting.remove(atom)
                bound |= literal_variables(literal)
                yield literal

    def _check_head(self, head: list[tuple[RuleAtom | _Computed, str]], body: tuple[RuleAtom, ...]) -> None:
        bound = {v for atom in body for v in _binds(atom)}
        for atom, text in head:
            if isinstance(atom, _Computed):
                raise self._error(f"atom {text} in the head: built-ins stand in bodies only; {_INSTEAD}")
            if unbound := Implication("", (), (atom,)).variables() - bound:
                names = ", ".join(sorted(map(str, unbound)))
                raise self._error(f"atom {text} in the head: {names} is not bound by an atom of the body")


def _binds(atom: RuleAtom) -> set[Variable]:
    """The variables that an atom binds."""
    if isinstance(atom, ClassAtom):
        return {atom.individual} if isinstance(atom.individual, Variable) and _is_listed(atom.of) else set()
    if isinstance(atom, Assignment):
        return {atom.variable}
    return set(atom.variables()) if isinstance(atom, Atom) else set()


def _is_listed(expression: ClassExpression) -> bool:
    return expression != THING and not isinstance(expression, Datatype)


def _literal(computed: _Computed, bound: set[Variable]) -> Condition | Assignment | None:
    """The literal of a built-in, or None if it needs more bound variables."""
    free = {a for a in computed.args if isinstance(a, Variable)} - bound
    if not free:
        return Condition(_truth(computed))
    if computed.name == "equal" and len(free) == 1:
        first, second = computed.args
        target, value = (first, second) if first in free else (second, first)
        return Assignment(target, value) if isinstance(target, Variable) and target != value else None
    target = computed.args[0]
    if computed.builtin.is_test or not isinstance(target, Variable) or free != {target} or target in computed.inputs():
        return None
    return Assignment(target, computed.builtin.compute(*computed.inputs()))


def _truth(computed: _Computed) -> Call:
    value = computed.builtin.compute(*computed.inputs())
    if computed.builtin.is_test:
        assert isinstance(value, Call)
        return value
    return Call("=", (computed.args[0], value))
