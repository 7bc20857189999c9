"""Rules with one body atom, all at once, where facts are few.

Most rules of an ontology say that one fact follows from one other. As a relation between atoms they are joined with all
facts of a small set in a few steps, forwards from bodies to heads and backwards from heads to bodies, whatever the
number of rules. Rules of another kind are only found here: which of them, and at which atom, the facts may match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np

from tidelog.algebra.engine import Work
from tidelog.dictionary import Dictionary
from tidelog.engines.local.atoms import AtomIndex, Narrow, Templates
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.engines.local.relations import Numbering
from tidelog.kernel.join import window
from tidelog.kernel.mixed import Mixed, encode
from tidelog.kernel.rows import Ints
from tidelog.rules.syntax import Atom, Rule, Variable

T = TypeVar("T")

_MANY = 50_000  # facts from which on rules do better one by one, on all cores


class _Entries(Generic[T]):
    """Atoms to be matched: those of rules with one atom, each with the atom it gives, then those of other rules."""

    def __init__(
        self,
        dictionary: Dictionary,
        lifted: Sequence[tuple[Atom, Narrow, Narrow]],
        others: Sequence[tuple[Atom, T]],
    ) -> None:
        self.dictionary = dictionary
        self.numbering = Numbering.of(dictionary)
        self.lifted = len(lifted)
        self.index = AtomIndex(dictionary, [atom for atom, _, _ in lifted] + [atom for atom, _ in others])
        self.templates = Templates(dictionary, [(matched, made) for _, matched, made in lifted])
        self.others = [other for _, other in others]

    def coded(self, facts: LocalFacts) -> Mixed | None:
        """The facts with codes that the terms of today fit into, if they are few."""
        few, bits = facts.few, self.numbering.bits(len(self.dictionary))
        return None if few is None or len(few) > _MANY or bits is None else few.with_bits(bits)

    def matches(self, facts: Mixed) -> tuple[Ints, Ints, list[T]]:
        """Pairs (fact, rule of one atom), and the other rules that may match."""
        fact, atom = self.index.matches(facts)
        is_lifted = atom < self.lifted
        others = set((atom[~is_lifted] - self.lifted).tolist())
        if self.index.anywhere and self.index.has_triples(facts):
            others.update(i - self.lifted for i in self.index.anywhere)
        return fact[is_lifted], atom[is_lifted], [self.others[i] for i in sorted(others)]


class Forward:
    """Rules by their body atoms."""

    def __init__(self, dictionary: Dictionary, rules: Sequence[Rule]) -> None:
        lifted, others = [], []
        counts: list[int] = []  # 1 for the first head of a rule: a match counts once, however many heads
        for rule in rules:
            pairs = [_pair(rule.atoms[0], head, dictionary) for head in rule.heads] if _has_one_atom(rule) else []
            known = [p for p in pairs if p is not None]
            if known and len(known) == len(pairs) and not any(_free(*pair) for pair in known):
                lifted += [(rule.atoms[0], *pair) for pair in known]
                counts += [int(i == 0) for i in range(len(known))]
            else:
                others += [(atom, (rule, i)) for i, atom in enumerate(rule.atoms)]
        self._counts = np.array(counts, dtype=np.int64)
        self._entries = _Entries[tuple[Rule, int]](dictionary, lifted, others)

    def heads(self, pivot: LocalFacts, work: Work) -> tuple[LocalFacts, list[tuple[Rule, int]]] | None:
        """What rules of one atom derive, and the other rules with the atoms that may match; None for many facts."""
        facts = self._entries.coded(pivot)
        if facts is None:
            return None
        fact, rule, others = self._entries.matches(facts)
        work.derivations += int(self._counts[rule].sum())
        codes = self._entries.templates.codes(facts.bits, facts, fact, rule)
        return pivot.with_few(Mixed.of(facts.bits, codes)), others


class Backward:
    """Guarded rules by their guards, which are the first atoms of their bodies."""

    def __init__(self, dictionary: Dictionary, rules: Sequence[Rule]) -> None:
        lifted, others = [], []
        for rule in rules:
            pair = _pair(*rule.atoms, dictionary) if len(rule.body) == len(rule.atoms) == 2 else None
            if pair is not None and len(_free(*pair)) < max(1, len(pair[1].filled())):
                lifted.append((rule.atoms[0], *pair))
            else:
                others.append((rule.atoms[0], rule))
        self._entries = _Entries[Rule](dictionary, lifted, others)
        # A group of rules looks in one table; the first group has all rules whose guard leaves nothing open.
        keys = [(made.relation, made.number, free[0]) if (free := _free(g, made)) else None for _, g, made in lifted]
        self._groups = list(dict.fromkeys((None, *keys)))
        # numpy sorts 16 bits by radix, ten times as fast as 64
        kind = np.int16 if len(self._groups) < 1 << 15 else np.int64
        self._group = np.array([self._groups.index(k) for k in keys], dtype=kind)

    def bodies(
        self, guards: LocalFacts, sources: LocalFacts, start: int, stop: int | None, work: Work
    ) -> tuple[LocalFacts, LocalFacts, list[Rule]] | None:
        """Body facts of rules with one atom, guards that have more, and the other rules; None for many guards."""
        facts = self._entries.coded(guards)
        if facts is None:
            return None
        fact, rule, others = self._entries.matches(facts)
        group = self._group[rule]
        useful = np.array([key is None or sources.may_read(key[0]) for key in self._groups])[group]
        fact, rule, group = fact[useful], rule[useful], group[useful]
        order = np.argsort(group, kind="stable")
        fact, rule, group = fact[order], rule[order], group[order]
        columns = self._entries.templates.columns(facts, fact, rule)
        more = np.zeros(len(facts), dtype=np.bool_)
        found = [np.empty(0, dtype=np.int64)]
        for number, part in _cuts(group):
            key = self._groups[number]
            if key is None:
                found += self._present(facts.bits, rule[part], columns, part, sources) if start == 0 else []
                continue
            relation, coded, free = key
            table = sources.table(relation)
            if table is None:
                continue
            which, other, counts = window(table, 1 - free, columns[1 - free][part], start, stop)
            bound = columns[1 - free][part][which]
            found.append(encode(facts.bits, coded, *((other, bound) if free == 0 else (bound, other))))
            if stop is not None:
                more[fact[part][counts > stop]] = True
        work.derivations += sum(map(len, found))
        bodies = guards.with_few(Mixed.of(facts.bits, np.concatenate(found)))
        return bodies, guards.with_few(facts.keep(more)), others

    def _present(
        self, bits: int, rule: Ints, columns: tuple[Ints, Ints], part: slice, sources: LocalFacts
    ) -> list[Ints]:
        """Which of the bodies that are known completely are there."""
        first, second = columns
        codes = np.sort(encode(bits, self._entries.templates.relations[rule], first[part], second[part]))
        return [codes[sources.holds(Mixed(bits, codes))]]


def _has_one_atom(rule: Rule) -> bool:
    return len(rule.atoms) == len(rule.body) == 1 and rule.aggregate is None


def _pair(matched: Atom, made: Atom, dictionary: Dictionary) -> tuple[Narrow, Narrow] | None:
    """An atom that facts match and one that they then give, if both are simple enough."""
    one, other = Narrow.of(matched, dictionary), Narrow.of(made, dictionary)
    if one is None or other is None or not one.is_plain or not other.is_made_of(one):
        return None
    return one, other


def _free(matched: Narrow, made: Narrow) -> list[int]:
    """The columns that the match leaves open."""
    return [c for c, a in enumerate(made.args) if isinstance(a, Variable) and a not in matched.args]


def _cuts(group: Ints) -> Iterator[tuple[int, slice]]:
    """Where each group lies among sorted numbers."""
    if len(group):
        starts = [0, *(np.flatnonzero(group[1:] != group[:-1]) + 1).tolist(), len(group)]
        yield from ((int(group[a]), slice(a, b)) for a, b in pairwise(starts))
