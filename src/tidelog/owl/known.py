"""Members of unnamed classes that follow from the classes alone.

`GraduateStudent SubClassOf takesCourse some GraduateCourse` says that there is a course without saying which. No rule
can name it, but the axiomatised rules still conclude that a graduate student is in `takesCourse some Course`, because
classes of this form are ordered when their properties and fillers are (scm-svf1, scm-svf2, scm-avf1, scm-avf2). So
where such a class stands on the left, the members of every class known to be below it count too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

from tidelog.owl.axioms import Axiom, ClassAtom, Domain, Implication, Key, Member, SubClass, SubProperty
from tidelog.owl.expressions import THING, And, Expression, Named, Only, Or, Property, Some, walk

Restriction = Some | Only
Node = TypeVar("Node")


class Known:
    """Which restrictions have members by axiom (`named`: all of a class; `unnamed`: others), and what is above them."""

    def __init__(self, axioms: Iterable[Axiom]) -> None:
        listed = list(axioms)
        self.named: dict[Restriction, list[Named]] = defaultdict(list)
        self.unnamed: set[Restriction] = set()
        for axiom in listed:
            self._add(axiom)
        expressions = dict.fromkeys(e for axiom in listed for top in _expressions(axiom) for e in walk(top))
        order = _Order(listed, expressions)
        self._below: dict[Expression, list[Restriction]] = defaultdict(list)
        for restriction in [e for e in expressions if e in self.named or e in self.unnamed]:
            for above in order.above(restriction):
                self._below[above].append(restriction)  # type: ignore[arg-type]

    def below(self, restriction: Restriction) -> list[Restriction]:
        """The restrictions with members by axiom whose members are members of this one."""
        return self._below.get(restriction, [])

    def _add(self, axiom: Axiom) -> None:
        match axiom:
            case SubClass(_, Named() as name, of) if name != THING:
                self._put(name, of)
            case SubClass(_, _, of) | Domain(_, _, of) | Member(_, _, of):
                self._put(None, of)
            case Implication(_, _, head):
                for atom in head:
                    if isinstance(atom, ClassAtom):
                        self._put(None, atom.of)

    def _put(self, name: Named | None, expression: Expression) -> None:
        """All members of a class, or else some things, are members of the expression."""
        if isinstance(expression, And):
            for part in expression.parts:
                self._put(name, part)
        elif isinstance(expression, Some | Only):
            if name is None:
                self.unnamed.add(expression)
            else:
                self.named[expression].append(name)
            if isinstance(expression, Only):
                self._put(None, expression.filler)


def _expressions(axiom: Axiom) -> tuple[Expression, ...]:
    match axiom:
        case SubClass(_, sub, sup):
            return (sub, sup)
        case Domain(_, _, of) | Key(_, of, _) | Member(_, _, of):
            return (of,)
        case Implication(_, body, head):
            return tuple(atom.of for atom in (*body, *head) if isinstance(atom, ClassAtom))
        case _:
            return ()


class _Order:
    """Which class expressions are below which, as the rules for schemas say."""

    def __init__(self, axioms: list[Axiom], expressions: Iterable[Expression]) -> None:
        self._up: dict[Expression, set[Expression]] = defaultdict(set)
        self._wider: dict[Property, set[Property]] = defaultdict(set)
        self._narrower: dict[Property, set[Property]] = defaultdict(set)
        for axiom in axioms:
            if isinstance(axiom, SubClass):
                self._up[axiom.sub].add(axiom.sup)
            elif isinstance(axiom, SubProperty) and len(axiom.chain) == 1:
                self._wider[axiom.chain[0]].add(axiom.sup)
                self._narrower[axiom.sup].add(axiom.chain[0])
        for expression in expressions:
            self._add_parts(expression)
        restrictions = {e for e in expressions if isinstance(e, Some | Only)}
        while new := [(low, high) for low in restrictions for high in self._next(low) if high in restrictions]:
            for low, high in new:
                self._up[low].add(high)

    def above(self, expression: Expression) -> set[Expression]:
        """The expression and all that it is below of."""
        return _reached(self._up, expression)

    def _add_parts(self, expression: Expression) -> None:
        if isinstance(expression, And):
            self._up[expression].update(expression.parts)
        if isinstance(expression, Or):
            for part in expression.parts:
                self._up[part].add(expression)

    def _next(self, low: Restriction) -> set[Expression]:
        """The restrictions above one that the order does not have yet, one step up its property or its filler."""
        fillers = self.above(low.filler) | {THING}
        properties = _reached(self._wider if isinstance(low, Some) else self._narrower, low.property)
        found: set[Expression] = {type(low)(low.property, filler) for filler in fillers}
        found |= {type(low)(over, low.filler) for over in properties}
        return found - self._up[low] - {low}


def _reached(edges: dict[Node, set[Node]], start: Node) -> set[Node]:
    """All nodes that a path leads to, the start included."""
    reached, waiting = {start}, [start]
    while waiting:
        new = edges.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached
