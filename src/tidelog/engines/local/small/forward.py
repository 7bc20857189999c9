"""From few facts to the heads that follow from them, all rules at once.

Most rules of an ontology have one body atom. Together they are a relation between atoms, and a few steps join it with
all facts of a small set: forward from bodies to heads, and backward from heads to bodies. The number of rules does not
matter. Rules with more atoms are joined family by family, see `rule_shapes`. For all other rules this module only finds
which of them, and at which atom, the facts may match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np

from tidelog import tuning
from tidelog.algebra.engine import Work
from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.local.small.atom_index import AtomIndex, NarrowAtom, Templates
from tidelog.engines.local.small.join import FamilyMatches, cheapest, joined, lookups
from tidelog.engines.local.small.rule_shapes import JoinStep, RuleFamily, RuleShape, RuleShapes, ShapedRule
from tidelog.kernel.lookup import CodedRows
from tidelog.kernel.rows import Ints, Mask, expand
from tidelog.rules.syntax import Atom, Rule, Variable

T = TypeVar("T")

_NO_CODES = np.empty(0, dtype=np.int64)


class SlotPairs:
    """Pairs of a fact and an atom of one slot that it may match. The atoms of a slot are processed together."""

    __slots__ = ("_atoms", "_facts", "slot")

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self._facts: list[Ints] = []
        self._atoms: list[Ints] = []

    def add(self, facts: Ints, atoms: Ints) -> None:
        """Each of the facts may match each of the atoms."""
        self._facts.append(facts)
        self._atoms.append(atoms)

    def atoms(self) -> set[int]:
        return {atom for atoms in self._atoms for atom in atoms.tolist()}

    def pairs(self, known: Mask | None = None, useful: Mask | None = None) -> tuple[Ints, Ints]:
        """The facts and the atoms of all pairs, without `known` facts and with `useful` atoms only."""
        if len(self._facts) == 1 and len(self._atoms[0]) == 1:
            (fact,), (atoms,) = self._facts, self._atoms
            fact = fact if known is None else fact[(~known[fact]).nonzero()[0]]
            return fact, atoms.repeat(len(fact))
        fact, atoms = np.concatenate(self._facts), np.concatenate(self._atoms)
        counts = np.array([len(some) for some in self._atoms])
        group = np.arange(len(counts)).repeat([len(some) for some in self._facts])
        if known is not None:
            open_ = (~known[fact]).nonzero()[0]
            fact, group = fact[open_], group[open_]
        if useful is not None:
            kept = useful[atoms]
            atoms, counts = atoms[kept], np.add.reduceat(kept, counts.cumsum() - counts, dtype=np.int64)
        starts, length = counts.cumsum() - counts, counts[group]
        which, positions = expand(starts[group], length, int(length.sum()))
        return fact[which], atoms[positions]


class SlottedAtoms(Generic[T]):
    """Atoms to match, each in a slot.

    `lifted` are atoms of rules with one body atom: (atom, its narrow form, narrow form of the atom to make, slot).
    `members` are atoms of rules with more atoms; each family of rules has its own slot. `others` are in the last slot.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        lifted: Sequence[tuple[Atom, NarrowAtom, NarrowAtom, int]],
        members: Sequence[tuple[Atom, ShapedRule, T]],
        others: Sequence[tuple[Atom, T]],
        plans: Callable[[RuleShape], list[list[JoinStep]]],
    ) -> None:
        self.dictionary = dictionary
        self.index = AtomIndex(dictionary, [e[0] for entries in (lifted, members, others) for e in entries])
        self.templates = Templates(dictionary, [(matched, made) for _, matched, made, _ in lifted])
        self.lifted = len(lifted)
        self.rest = [entry[-1] for entries in (members, others) for entry in entries]
        self.first_family = 1 + max((slot for *_, slot in lifted), default=-1)
        by_shape: dict[RuleShape, list[int]] = {}
        for i, (_, member, _) in enumerate(members):
            by_shape.setdefault(member.shape, []).append(i)
        self.families = [RuleFamily(s, plans(s), [members[i][1].constants for i in m]) for s, m in by_shape.items()]
        self.last = self.first_family + len(self.families)
        numbers = {shape: self.first_family + i for i, shape in enumerate(by_shape)}
        slots = [*(e[-1] for e in lifted), *(numbers[m.shape] for _, m, _ in members), *[self.last] * len(others)]
        self._by_key = [_by_slot(atoms, slots) for atoms in self.index.atoms]
        self.member = np.zeros(len(slots), dtype=np.int64)
        for entries in by_shape.values():
            self.member[self.lifted + np.array(entries)] = np.arange(len(entries))

    def bits(self) -> int | None:
        """The width of ids in codes for the terms that there are now; None if there are too many for codes."""
        return self.dictionary.relations.bits(len(self.dictionary))

    def coded(self, facts: LocalFacts) -> CodedRows | None:
        """The facts as codes; None if they are too many."""
        bits = self.bits()
        if bits is None or len(facts) > tuning.SMALL_FORWARD_FACTS:
            return None
        if facts.coded is not None:
            return facts.coded.with_bits(bits)
        return facts.to_coded(bits) if facts.is_narrow else None

    def coded_parts(self, facts: LocalFacts, bits: int, most: int) -> list[CodedRows]:
        """Any number of facts as codes, at most `most` in each part, without the facts of wide relations."""
        together = facts.coded.with_bits(bits) if facts.coded is not None else facts.to_coded(bits)
        if 0 < len(together) <= most:
            return [together]
        return [CodedRows(bits, together.codes[i : i + most]) for i in range(0, len(together), most)]

    def parts(self, facts: CodedRows) -> list[SlotPairs]:
        """The pairs of a fact and an atom that it may match, by slot."""
        parts: dict[int, SlotPairs] = {}
        for key, positions in self.index.found(facts):
            for slot, atoms in self._by_key[key]:
                part = parts.get(slot)
                if part is None:
                    part = parts[slot] = SlotPairs(slot)
                part.add(positions, atoms)
        return list(parts.values())

    def family(self, part: SlotPairs) -> RuleFamily:
        return self.families[part.slot - self.first_family]

    def matches(self, part: SlotPairs, columns: Sequence[Ints], known: Mask | None = None) -> FamilyMatches:
        """The pairs of a family as bindings."""
        fact, atom = part.pairs(known)
        return FamilyMatches.of(self.family(part), columns, fact, self.member[atom])

    def others(self, parts: Iterable[SlotPairs], facts: CodedRows) -> list[T]:
        """The rules of some parts, and those with an atom that each triple may match."""
        found = {atom for part in parts for atom in part.atoms()}
        if self.index.anywhere and self.index.has_triples(facts):
            found.update(self.index.anywhere)
        return [self.rest[i - self.lifted] for i in sorted(found)]


def _by_slot(atoms: Iterable[int], slots: Sequence[int]) -> list[tuple[int, Ints]]:
    found: dict[int, list[int]] = {}
    for atom in atoms:
        found.setdefault(slots[atom], []).append(atom)
    return [(slot, np.array(some)) for slot, some in found.items()]


class Forward:
    """Finds heads: the rules by their body atoms."""

    def __init__(self, shapes: RuleShapes, rules: Sequence[Rule]) -> None:
        dictionary = shapes.dictionary
        lifted, members, others = [], [], []
        counts: list[int] = []  # 1 for the first head of a rule, 0 for the others: a match counts once
        for rule in rules:
            pairs = [pair_of(rule.atoms[0], head, dictionary) for head in rule.heads] if _has_one_atom(rule) else []
            known = [p for p in pairs if p is not None]
            if known and len(known) == len(pairs) and not any(free_columns(*pair) for pair in known):
                lifted += [(rule.atoms[0], *pair, 0) for pair in known]
                counts += [int(i == 0) for i in range(len(known))]
                continue
            for i, atom in enumerate(rule.atoms):
                member = shapes.of(rule, i)
                if member is not None and member.shape.plans():
                    members.append((atom, member, (rule, i)))
                else:
                    others.append((atom, (rule, i)))
        self._counts = np.array(counts, dtype=np.int64)
        self._entries = SlottedAtoms[tuple[Rule, int]](dictionary, lifted, members, others, RuleShape.plans)

    def heads(
        self, left: LocalFacts, pivot: LocalFacts, right: LocalFacts, work: Work
    ) -> tuple[LocalFacts, list[tuple[Rule, int]]] | None:
        """The heads of matches, and the rules left with the position of the pivot; None if the facts are too many."""
        facts = self._entries.coded(pivot)
        if facts is None:
            return None
        entries, codes = self._entries, [_NO_CODES]
        columns, remaining = (facts.first, facts.second), []
        for part in entries.parts(facts):
            if part.slot < entries.first_family:
                fact, atom = part.pairs()
                work.derivations += int(self._counts[atom].sum())
                codes.append(entries.templates.codes(facts, fact, atom))
                continue
            if part.slot == entries.last:
                remaining.append(part)
                continue
            family, shape = entries.family(part), entries.family(part).shape
            reads = lookups(family, [left if i < shape.position else right for i in range(len(shape.body))])
            if reads is None:
                continue
            matches = entries.matches(part, columns)
            found = joined(matches, cheapest(matches, family.plans, reads), reads)
            if found is None:  # too many bindings
                remaining.append(part)
            elif len(found):
                work.derivations += len(found)
                codes += found.codes(facts.bits, shape.given)
        heads = pivot.of_coded(CodedRows.of(facts.bits, np.concatenate(codes)))
        return heads, entries.others(remaining, facts)


def _has_one_atom(rule: Rule) -> bool:
    return len(rule.atoms) == len(rule.body) == 1 and rule.aggregate is None


def pair_of(matched: Atom, made: Atom, dictionary: Dictionary) -> tuple[NarrowAtom, NarrowAtom] | None:
    """Narrow forms of an atom to match and an atom to make from the match; None if they are not simple enough."""
    one, other = NarrowAtom.of(matched, dictionary), NarrowAtom.of(made, dictionary)
    if one is None or other is None or not one.is_plain or not other.is_made_of(one):
        return None
    return one, other


def free_columns(matched: NarrowAtom, made: NarrowAtom) -> list[int]:
    """The columns of `made` that the match does not bind."""
    return [c for c, a in enumerate(made.args) if isinstance(a, Variable) and a not in matched.args]
