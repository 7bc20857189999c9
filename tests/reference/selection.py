"""The selection-based split: one relation cut into parts by the constants that rules have at one of its places.

    t(?x, knows, ?y) :- t(?y, knows, ?x) .        becomes, with the split point `knows` at the second place of t,

    t^knows_2(?x, knows, ?y) :- t^knows_2(?y, knows, ?x) .
    t(?x, knows, ?z)         :- t^knows_2(?x, knows, ?z) .          the whole is the union of its parts
    t(?x, ?y, ?z)            :- t^Rest(?x, ?y, ?z) .

so that maintenance after a change looks at the parts that the change reaches (Volz, Staab, Motik 2003, section 4.3).
A rule whose head has a variable at that place derives into `t^Rest`, from which each part picks what is its own.
Parts can be cut again: triples by predicate, and then those of rdf:type by class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tidelog.model.terms import RDF_TYPE, TRIPLE, Term, is_iri, plain
from tidelog.rules.maintenance_rules import general_atom
from tidelog.rules.syntax import Aggregate, Atom, Literal, Negation, Rule, Variable, all_atoms

REST = "Rest"
Args = tuple[Variable | Term | Aggregate, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """A predicate, the place (from 0) at which it is split, and the constants that make a part."""

    predicate: str
    arity: int
    place: int
    points: tuple[Term, ...]

    def part(self, args: Args) -> str:
        """The predicate whose extension holds facts with these arguments."""
        constant = args[self.place]
        return self._part(constant) if constant in self.points else self._rest

    @property
    def _rest(self) -> str:
        return f"{self.predicate}^{REST}"

    def _part(self, point: Term) -> str:
        return f"{self.predicate}^{plain(point)}_{self.place + 1}"

    def rewrite(self, rules: Iterable[Rule]) -> list[Rule]:
        """The program over the parts; the predicate itself is their union, and has no asserted facts of its own."""
        rules = list(rules)
        rewritten = [self._rule(r) for r in rules]
        open_heads = any(self._is_split(h) and not isinstance(h.args[self.place], str) for r in rules for h in r.heads)
        return [*rewritten, *(self._picks() if open_heads else ()), *self._unions()]

    def _is_split(self, atom: Atom) -> bool:
        return atom.predicate == self.predicate and len(atom.args) == self.arity

    def _rule(self, rule: Rule) -> Rule:
        heads = (Atom(self.part(h.args), h.args) if self._is_split(h) else h for h in rule.heads)
        return replace(rule, heads=tuple(heads), body=tuple(map(self._literal, rule.body)))

    def _literal(self, literal: Literal) -> Literal:
        if isinstance(literal, Negation):
            return Negation(self._atom(literal.atom))
        return self._atom(literal) if isinstance(literal, Atom) else literal

    def _atom(self, atom: Atom) -> Atom:
        """A body atom: with a variable at the place it reads all parts."""
        if not self._is_split(atom) or isinstance(atom.args[self.place], Variable):
            return atom
        return Atom(self.part(atom.args), atom.args)

    def _picks(self) -> Iterator[Rule]:
        for point in self.points:
            args = self._args(point)
            yield Rule((Atom(self._part(point), args),), (Atom(self._rest, args),))

    def _unions(self) -> Iterator[Rule]:
        for point in self.points:
            args = self._args(point)
            yield Rule((Atom(self.predicate, args),), (Atom(self._part(point), args),))
        args = general_atom(self.predicate, self.arity).args
        yield Rule((Atom(self.predicate, args),), (Atom(self._rest, args),))

    def _args(self, point: Term) -> Args:
        args = general_atom(self.predicate, self.arity).args
        return (*args[: self.place], point, *args[self.place + 1 :])


def selection(rules: Iterable[Rule], predicate: str, place: int) -> Selection | None:
    """The split of a predicate at a place by all IRIs that the rules have there, or None if there are none."""
    atoms = [a for r in rules for a in all_atoms(r) if a.predicate == predicate]
    points = dict.fromkeys(t for a in atoms if isinstance(t := a.args[place], str) and is_iri(t))
    return Selection(predicate, len(atoms[0].args), place, tuple(points)) if points else None


def split_triples(rules: Sequence[Rule]) -> tuple[list[Rule], list[Selection]]:
    """Triples split by predicate, and those of rdf:type by class: the program, and the splits in that order."""
    splits: list[Selection] = []
    program = list(rules)
    for predicate, place in ((TRIPLE, 1), (f"{TRIPLE}^{RDF_TYPE[1:-1]}_2", 2)):
        if (found := selection(program, predicate, place)) is not None:
            splits.append(found)
            program = found.rewrite(program)
    return program, splits
