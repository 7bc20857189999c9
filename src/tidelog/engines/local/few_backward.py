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
from tidelog.engines.local.shapes import Family, Shape, Step, member_of
from tidelog.engines.local.small_joins import MOST, Matches, cheapest, joined, lookups
from tidelog.kernel.lookup import Lookup
from tidelog.kernel.mixed import NONE, Mixed, encode
from tidelog.kernel.rows import Ints, Mask
from tidelog.rules.syntax import Rule

Window = tuple[int, int | None]

FIRST: Window = (0, 1)
_BEST_FIRST = 256  # guards from which on it pays to look for most of them in one place


class Backward:
    """Guarded rules by their guards, which are the first atoms of their bodies."""

    def __init__(self, dictionary: Dictionary, rules: Sequence[Rule]) -> None:
        lifted, members, others = [], [], []
        for rule in rules:
            pair = pair_of(*rule.atoms, dictionary) if len(rule.body) == len(rule.atoms) == 2 else None
            member = member_of(rule, 0, rule.atoms[1:], dictionary)
            if pair is not None and len(free_columns(*pair)) < max(1, len(pair[1].filled())):
                lifted.append((rule.atoms[0], *pair))
            elif member is not None and _plans(member.shape):
                members.append((rule.atoms[0], member, rule))
            else:
                others.append((rule.atoms[0], rule))
        self.entries = Entries[Rule](dictionary, lifted, members, others, _plans)
        # A group of rules looks in one relation; the first group has all rules whose guard leaves nothing open.
        keys = [(made.number, free[0]) if (free := free_columns(g, made)) else None for _, g, made in lifted]
        self.groups = list(dict.fromkeys((None, *keys)))
        kind = np.int16 if len(self.groups) < 1 << 15 else np.int64
        self.group = np.array([self.groups.index(k) for k in keys], dtype=kind)
        # Windows must fit together, so each family goes on with the same place in all of them.
        self._plans: dict[Family, list[Step]] = {}

    def plan_of(self, matches: Matches, reads: Sequence[Lookup]) -> list[Step]:
        """The plan of a family: that which seemed best when it was first asked for."""
        if matches.family not in self._plans:
            self._plans[matches.family] = cheapest(matches, matches.family.plans, reads)
        return self._plans[matches.family]

    def supports(
        self, guards: LocalFacts, sources: LocalFacts, window: Window, work: Work
    ) -> tuple[LocalFacts, LocalFacts, list[Rule]] | None:
        """Body facts in the window, guards that have more, and the rules that are left; None for many guards."""
        facts = self.entries.coded(guards)
        if facts is None:
            return None
        look = _Look(self, facts, sources, window, everything=True)
        look.at_rules()
        work.derivations += look.matches
        return guards.with_few(look.bodies()), guards.with_few(facts.keep(look.more)), look.others

    def proofs(
        self, guards: LocalFacts, sources: LocalFacts, work: Work
    ) -> tuple[LocalFacts, LocalFacts, list[Rule]] | None:
        """Guards for which a first candidate is a match, the body facts of these, and the rules that are left."""
        facts = self.entries.coded(guards)
        if facts is None:
            return None
        proved, bodies = facts.keep(np.zeros(len(facts), dtype=np.bool_)), NONE
        if len(facts) > _BEST_FIRST:
            look = _Look(self, facts, sources, FIRST, everything=False)
            look.at_best_rules()
            proved, bodies, facts = facts.keep(look.proved), look.bodies(), facts.keep(~look.proved)
            work.derivations += look.matches
        look = _Look(self, facts, sources, FIRST, everything=False)
        look.at_rules()
        work.derivations += look.matches
        proved, bodies = proved.plus(facts.keep(look.proved)), bodies.plus(look.bodies())
        return guards.with_few(proved), guards.with_few(bodies), look.others


def _plans(shape: Shape) -> list[list[Step]]:
    """The plans that open one place at most: that is where the window is."""
    return [p for p in shape.plans() if sum(step.column is not None for step in p) <= 1]


class _Look:
    """One look at the candidates of some guards; unless `everything` is asked for, a match is enough for a guard."""

    def __init__(
        self, backward: Backward, facts: Mixed, sources: LocalFacts, window: Window, *, everything: bool
    ) -> None:
        self.backward, self.entries = backward, backward.entries
        self.facts, self.sources = facts, sources
        (self.start, self.stop), self.everything = window, everything
        self.others: list[Rule] = []
        self.more: Mask = np.zeros(len(facts), dtype=np.bool_)
        self.proved: Mask = np.zeros(len(facts), dtype=np.bool_)
        self.found = [np.empty(0, dtype=np.int64)]
        self.matches = 0

    def bodies(self) -> Mixed:
        return Mixed.of(self.facts.bits, np.concatenate(self.found))

    def at_best_rules(self) -> None:
        """For each guard only the rule of one atom that has most facts to look at: that is enough for most guards."""
        fact, key = self.entries.index.found(self.facts)
        order = np.argsort(key, kind="stable")
        fact, key = fact[order], key[order]
        for number, part in cuts(key):
            rules = self.entries.index.atoms_of(number)
            lifted = rules[rules < self.entries.lifted].tolist()
            if lifted:
                best = min(lifted, key=lambda rule: self._size(self.backward.group[rule]))
                self._at_group(self.backward.group[best], fact[part], np.full(part.stop - part.start, best))

    def at_rules(self) -> None:
        found = self.entries.matches(self.facts)
        self.others = found.others
        group = self.backward.group[found.rule]
        order = np.argsort(group, kind="stable")
        fact, rule, group = found.fact[order], found.rule[order], group[order]
        parts = cuts(group) if self.everything else sorted(cuts(group), key=lambda cut: self._size(cut[0]))
        for number, part in parts:
            self._at_group(number, fact[part], rule[part])
        self._at_families(found.families)

    def _at_group(self, number: int, fact: Ints, rule: Ints) -> None:
        """The rules of one atom that look in the same relation."""
        if not self.everything:
            open_ = (~self.proved[fact]).nonzero()[0]
            if not len(open_):
                return
            fact, rule = fact[open_], rule[open_]
        key = self.backward.groups[number]
        columns = self.entries.templates.columns(self.facts, fact, rule)
        if key is None:
            self._at_present(fact, rule, columns)
        else:
            self._at_relation(*key, fact, columns)

    def _size(self, group: int) -> int:
        """Large relations are looked at first: they are the most likely ones."""
        key = self.backward.groups[group]
        lookup = None if key is None else self.sources.lookup(key[0])
        return 0 if lookup is None else -len(lookup)

    def _at_present(self, fact: Ints, rule: Ints, columns: tuple[Ints, Ints]) -> None:
        """Which of the bodies that are known completely are there."""
        if self.start > 0:
            return
        codes = encode(self.facts.bits, self.entries.templates.relations[rule], *columns)
        order = np.argsort(codes)
        here = np.flatnonzero(self.sources.holds(Mixed(self.facts.bits, codes[order])))
        self._note(fact[order[here]], [codes[order[here]]])

    def _at_relation(self, number: int, free: int, fact: Ints, columns: tuple[Ints, Ints]) -> None:
        lookup = self.sources.lookup(number)
        if lookup is None:
            return
        values = columns[1 - free]
        if not self.everything:
            which, other = lookup.first(1 - free, values)
        else:
            reach = lookup.reach(1 - free, values)
            which, other = reach.window(self.start, self.stop)
            self._note_more(fact, reach.counts)
        bound = values[which]
        self._note(fact[which], [encode(self.facts.bits, number, *((other, bound) if free == 0 else (bound, other)))])

    def _at_families(self, families: Sequence[Matches]) -> None:
        """The rules of more atoms."""
        for matches in families:
            if not self.everything:
                matches = matches.take(np.flatnonzero(~self.proved[matches.fact]))
            reads = lookups(matches.family, [self.sources] * len(matches.family.shape.body)) if len(matches) else None
            if reads is not None:
                self._at_family(matches, reads)

    def _at_family(self, matches: Matches, reads: Sequence[Lookup]) -> None:
        plan = self.backward.plan_of(matches, reads)
        opening = next((i for i, step in enumerate(plan) if step.column is not None), len(plan))
        checked = joined(matches, plan[:opening], reads)
        assert checked is not None
        if opening < len(plan):
            self._at_window(checked, plan[opening], plan[opening + 1 :], reads)
        elif self.start == 0:
            self._note_matches(checked)

    def _at_window(self, matches: Matches, opening: Step, checks: Sequence[Step], reads: Sequence[Lookup]) -> None:
        """In blocks, because the last window has no end."""
        reach = matches.reach(opening, reads[opening.place])
        most = int(reach.counts.max(initial=0))
        last, block = most if self.stop is None else min(most, self.stop), max(1, MOST // max(1, len(matches)))
        for start in range(self.start, last, block):
            found = joined(matches.opened(opening, *reach.window(start, min(start + block, last))), checks, reads)
            assert found is not None
            self._note_matches(found)
        self._note_more(matches.fact, reach.counts)

    def _note_matches(self, matches: Matches) -> None:
        self._note(matches.fact, matches.codes(self.facts.bits, matches.family.shape.given))

    def _note(self, fact: Ints, codes: list[Ints]) -> None:
        self.matches += len(fact)
        self.proved[fact] = True
        self.found += codes

    def _note_more(self, fact: Ints, counts: Ints) -> None:
        if self.stop is not None:
            self.more[fact[counts > self.stop]] = True
