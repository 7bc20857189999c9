"""All rules at once, where facts are few.

Most rules of an ontology say that one fact follows from one other. As a relation between atoms they are joined with all
facts of a small set in a few steps, forwards from bodies to heads and backwards from heads to bodies, whatever the
number of rules. Rules with more atoms are joined family by family, see `shapes`. Rules of another kind are only found
here: which of them, and at which atom, the facts may match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from tidelog.algebra.engine import Work
from tidelog.dictionary import Dictionary
from tidelog.engines.local.atoms import AtomIndex, Narrow, Templates
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.engines.local.relations import Numbering
from tidelog.engines.local.shapes import Family, Member, Shape, Step, member_of
from tidelog.engines.local.small_joins import Matches, cheapest, joined, lookups
from tidelog.kernel.mixed import Mixed
from tidelog.kernel.rows import Ints
from tidelog.rules.syntax import Atom, Rule, Variable

T = TypeVar("T")

_MANY = 50_000  # facts from which on rules do better one by one, on all cores
_NONE = np.empty(0, dtype=np.int64)


class Found(NamedTuple, Generic[T]):
    """What the facts of a small set match."""

    fact: Ints  # pairs with `rule`: rules of one atom
    rule: Ints
    families: list[Matches]
    others: list[T]  # rules of another kind that may match


class Entries(Generic[T]):
    """Atoms to be matched: those of rules with one atom, each with the atom it gives, then those of other rules."""

    def __init__(
        self,
        dictionary: Dictionary,
        lifted: Sequence[tuple[Atom, Narrow, Narrow]],
        members: Sequence[tuple[Atom, Member, T]],
        others: Sequence[tuple[Atom, T]],
        plans: Callable[[Shape], list[list[Step]]],
    ) -> None:
        self.dictionary = dictionary
        self.numbering = Numbering.of(dictionary)
        self.lifted = len(lifted)
        self.joined = self.lifted + len(members)
        atoms = [entry[0] for entries in (lifted, members, others) for entry in entries]
        self.index = AtomIndex(dictionary, atoms)
        self.templates = Templates(dictionary, [(matched, made) for _, matched, made in lifted])
        self.others = [entry[-1] for entries in (members, others) for entry in entries]
        shapes = list(dict.fromkeys(member.shape for _, member, _ in members))
        number = {shape: i for i, shape in enumerate(shapes)}
        # numpy sorts 16 bits by radix, ten times as fast as 64
        kind = np.int16 if len(shapes) < 1 << 15 else np.int64
        self.family = np.array([number[member.shape] for _, member, _ in members], dtype=kind)
        parts = [[m.constants for _, m, _ in members if m.shape == shape] for shape in shapes]
        self.families = [Family(shape, plans(shape), part) for shape, part in zip(shapes, parts, strict=True)]
        seen = [0] * len(shapes)
        self.member = np.zeros(len(members), dtype=np.int64)
        for i, family in enumerate(self.family.tolist()):
            self.member[i] = seen[family]
            seen[family] += 1

    def coded(self, facts: LocalFacts) -> Mixed | None:
        """The facts with codes that the terms of today fit into, if they are few."""
        few, bits = facts.few, self.numbering.bits(len(self.dictionary))
        return None if few is None or len(few) > _MANY or bits is None else few.with_bits(bits)

    def matches(self, facts: Mixed) -> Found[T]:
        fact, atom = self.index.matches(facts)
        lifted, others = np.flatnonzero(atom < self.lifted), np.flatnonzero(atom >= self.joined)
        found = set((atom[others] - self.lifted).tolist())
        if self.index.anywhere and self.index.has_triples(facts):
            found.update(i - self.lifted for i in self.index.anywhere)
        families: list[Matches] = []
        if len(lifted) + len(others) < len(atom):
            families = self._families(facts, fact, atom)
        return Found(fact[lifted], atom[lifted], families, [self.others[i] for i in sorted(found)])

    def _families(self, facts: Mixed, fact: Ints, atom: Ints) -> list[Matches]:
        some = np.flatnonzero((atom >= self.lifted) & (atom < self.joined))
        fact, entry = fact[some], atom[some] - self.lifted
        group = self.family[entry]
        order = np.argsort(group, kind="stable")
        fact, entry, group = fact[order], entry[order], group[order]
        columns = facts.first, facts.second
        return [
            Matches.of(self.families[number], columns, fact[part], self.member[entry[part]])
            for number, part in cuts(group)
        ]

    def entries_of(self, matches: Matches) -> list[T]:
        """The rules of a family that may match, to be joined otherwise."""
        number = self.families.index(matches.family)
        members = np.flatnonzero(self.family == number)
        return [self.others[i] for i in members[np.unique(matches.member)].tolist()]


class Forward:
    """Rules by their body atoms."""

    def __init__(self, dictionary: Dictionary, rules: Sequence[Rule]) -> None:
        lifted, members, others = [], [], []
        counts: list[int] = []  # 1 for the first head of a rule: a match counts once, however many heads
        for rule in rules:
            pairs = [pair_of(rule.atoms[0], head, dictionary) for head in rule.heads] if _has_one_atom(rule) else []
            known = [p for p in pairs if p is not None]
            if known and len(known) == len(pairs) and not any(free_columns(*pair) for pair in known):
                lifted += [(rule.atoms[0], *pair) for pair in known]
                counts += [int(i == 0) for i in range(len(known))]
                continue
            for i, atom in enumerate(rule.atoms):
                member = member_of(rule, i, rule.heads, dictionary)
                if member is not None and member.shape.plans():
                    members.append((atom, member, (rule, i)))
                else:
                    others.append((atom, (rule, i)))
        self._counts = np.array(counts, dtype=np.int64)
        self._entries = Entries[tuple[Rule, int]](dictionary, lifted, members, others, Shape.plans)

    def heads(
        self, before: LocalFacts, pivot: LocalFacts, behind: LocalFacts, work: Work
    ) -> tuple[LocalFacts, list[tuple[Rule, int]]] | None:
        """What the rules derive, without those that are left with the atoms that may match; None for many facts."""
        facts = self._entries.coded(pivot)
        if facts is None:
            return None
        fact, rule, families, others = self._entries.matches(facts)
        work.derivations += int(self._counts[rule].sum())
        codes = [self._entries.templates.codes(facts.bits, facts, fact, rule)]
        for matches in families:
            shape = matches.family.shape
            sources = [before if i < shape.position else behind for i in range(len(shape.body))]
            found = _all_matches(matches, sources)
            if found is None:
                others += self._entries.entries_of(matches)
            else:
                work.derivations += len(found)
                codes += found.codes(facts.bits, shape.given) if len(found) else []
        return pivot.with_few(Mixed.of(facts.bits, np.concatenate(codes))), others


def _all_matches(matches: Matches, sources: Sequence[LocalFacts]) -> Matches | None:
    reads = lookups(matches.family, sources)
    if reads is None:
        return matches.take(_NONE)
    return joined(matches, cheapest(matches, matches.family.plans, reads), reads)


def _has_one_atom(rule: Rule) -> bool:
    return len(rule.atoms) == len(rule.body) == 1 and rule.aggregate is None


def pair_of(matched: Atom, made: Atom, dictionary: Dictionary) -> tuple[Narrow, Narrow] | None:
    """An atom that facts match and one that they then give, if both are simple enough."""
    one, other = Narrow.of(matched, dictionary), Narrow.of(made, dictionary)
    if one is None or other is None or not one.is_plain or not other.is_made_of(one):
        return None
    return one, other


def free_columns(matched: Narrow, made: Narrow) -> list[int]:
    """The columns that the match leaves open."""
    return [c for c, a in enumerate(made.args) if isinstance(a, Variable) and a not in matched.args]


def cuts(group: Ints) -> Iterator[tuple[int, slice]]:
    """Where each group lies among sorted numbers."""
    if len(group):
        starts = [0, *(np.flatnonzero(group[1:] != group[:-1]) + 1).tolist(), len(group)]
        yield from ((int(group[a]), slice(a, b)) for a, b in pairwise(starts))
