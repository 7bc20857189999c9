"""From few facts to the facts they could follow from, all rules at once: the verbs `supports` and `proofs`.

A rule of one atom whose guard leaves nothing open asks whether one fact is there; all of these are asked together. Any
other looks in one relation by one column, and all rules that look there do it together. Families of rules with more
atoms check what the guard binds completely, look at a window of one place, and check the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.algebra.engine import Work
from tidelog.dictionary import Dictionary
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.engines.local.few import Entries, cuts, free_columns, pair_of
from tidelog.engines.local.shapes import Member, Step, member_of
from tidelog.engines.local.small_joins import Matches, cheapest, joined, lookups
from tidelog.kernel.lookup import Lookup
from tidelog.kernel.mixed import Mixed, encode
from tidelog.kernel.rows import Ints, Mask
from tidelog.rules.syntax import Rule

Window = tuple[int, int | None]

_FIRST: Window = (0, 1)


class Backward:
    """Guarded rules by their guards, which are the first atoms of their bodies."""

    def __init__(self, dictionary: Dictionary, rules: Sequence[Rule]) -> None:
        lifted, members, others = [], [], []
        for rule in rules:
            pair = pair_of(*rule.atoms, dictionary) if len(rule.body) == len(rule.atoms) == 2 else None
            member = member_of(rule, 0, rule.atoms[1:], dictionary)
            if pair is not None and len(free_columns(*pair)) < max(1, len(pair[1].filled())):
                lifted.append((rule.atoms[0], *pair))
            elif member is not None and _has_windows(member):
                members.append((rule.atoms[0], member, rule))
            else:
                others.append((rule.atoms[0], rule))
        self._entries = Entries[Rule](dictionary, lifted, members, others)
        # A group of rules looks in one relation; the first group has all rules whose guard leaves nothing open.
        keys = [(made.number, free[0]) if (free := free_columns(g, made)) else None for _, g, made in lifted]
        self._groups = list(dict.fromkeys((None, *keys)))
        kind = np.int16 if len(self._groups) < 1 << 15 else np.int64
        self._group = np.array([self._groups.index(k) for k in keys], dtype=kind)
        # Windows must fit together, so each family goes on with the same place in all of them.
        self._plans: dict[int, list[Step]] = {}

    def supports(
        self, guards: LocalFacts, sources: LocalFacts, window: Window, work: Work
    ) -> tuple[LocalFacts, LocalFacts, list[Rule]] | None:
        """Body facts in the window, guards that have more, and the rules that are left; None for many guards."""
        facts = self._entries.coded(guards)
        if facts is None:
            return None
        look = _Look(self, facts, sources, window)
        look.at_groups(everything=True)
        look.at_families(everything=True)
        work.derivations += look.matches
        return guards.with_few(look.bodies()), guards.with_few(facts.keep(look.more)), look.others

    def proofs(
        self, guards: LocalFacts, sources: LocalFacts, work: Work
    ) -> tuple[LocalFacts, LocalFacts, list[Rule]] | None:
        """Guards for which a first candidate is a match, the body facts of these, and the rules that are left."""
        facts = self._entries.coded(guards)
        if facts is None:
            return None
        look = _Look(self, facts, sources, _FIRST)
        look.at_groups(everything=False)
        look.at_families(everything=False)
        work.derivations += look.matches
        return guards.with_few(facts.keep(look.proved)), guards.with_few(look.bodies()), look.others


class _Look:
    """One look at the candidates of some guards. Unless everything is asked for, a guard is left once it has a match."""

    def __init__(self, backward: Backward, facts: Mixed, sources: LocalFacts, window: Window) -> None:
        self.backward, self.entries = backward, backward._entries
        self.facts, self.sources = facts, sources
        self.start, self.stop = window
        self.fact, self.rule, self.families, self.others = self.entries.matches(facts)
        self.more: Mask = np.zeros(len(facts), dtype=np.bool_)
        self.proved: Mask = np.zeros(len(facts), dtype=np.bool_)
        self.found = [np.empty(0, dtype=np.int64)]
        self.matches = 0

    def bodies(self) -> Mixed:
        return Mixed.of(self.facts.bits, np.concatenate(self.found))

    def at_groups(self, *, everything: bool) -> None:
        """The rules of one atom."""
        group = self.backward._group[self.rule]
        order = np.argsort(group, kind="stable")
        fact, rule, group = self.fact[order], self.rule[order], group[order]
        columns = self.entries.templates.columns(self.facts, fact, rule)
        for number, part in cuts(group):
            which = part
            if not everything:
                open_ = np.flatnonzero(~self.proved[fact[part]])
                if not len(open_):
                    continue
                which = open_ + part.start
            key = self.backward._groups[number]
            pairs = fact[which], rule[which], (columns[0][which], columns[1][which])
            if key is None:
                self._at_present(*pairs)
            else:
                self._at_relation(*key, *pairs)

    def _at_present(self, fact: Ints, rule: Ints, columns: tuple[Ints, Ints]) -> None:
        """Which of the bodies that are known completely are there."""
        if self.start > 0:
            return
        codes = encode(self.facts.bits, self.entries.templates.relations[rule], *columns)
        order = np.argsort(codes)
        here = np.flatnonzero(self.sources.holds(Mixed(self.facts.bits, codes[order])))
        self._note(fact[order[here]], [codes[order[here]]])

    def _at_relation(
        self, number: int, free: int, fact: Ints, rule: Ints, columns: tuple[Ints, Ints]
    ) -> None:
        lookup = self.sources.lookup(number)
        if lookup is None:
            return
        values = columns[1 - free]
        which, other, counts = lookup.window(1 - free, values, self.start, self.stop)
        bound = values[which]
        self._note(fact[which], [encode(self.facts.bits, number, *((other, bound) if free == 0 else (bound, other)))])
        self._note_more(fact, counts)

    def at_families(self, *, everything: bool) -> None:
        """The rules of more atoms."""
        for matches in self.families:
            if not everything:
                matches = matches.take(np.flatnonzero(~self.proved[matches.fact]))
            reads = lookups(matches.family, [self.sources] * len(matches.family.shape.body))
            if reads is not None and len(matches) and not self._at_family(matches, reads):
                self.others += self.entries.entries_of(matches)

    def _at_family(self, matches: Matches, reads: Sequence[Lookup]) -> bool:
        """False if there is too much to look at."""
        ...

    def _note(self, fact: Ints, codes: list[Ints]) -> None:
        self.matches += len(fact)
        self.proved[fact] = True
        self.found += codes

    def _note_more(self, fact: Ints, counts: Ints) -> None:
        if self.stop is not None:
            self.more[fact[counts > self.stop]] = True
