"""From few facts to the facts they could follow from, all rules at once: the verbs `supports` and `proofs`.

A rule of one atom whose guard leaves nothing open asks whether one fact is there; all of these are asked together. Any
other looks in one relation by one column, and all rules that look there do it together. Families of rules with more
atoms check what the guard binds completely, look at a window of one place, and check the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from weakref import ref

import numpy as np

from tidelog.algebra.engine import Work
from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.local.small import join
from tidelog.engines.local.small.atom_index import Narrow
from tidelog.engines.local.small.forward import Entries, Part, free_columns, pair_of
from tidelog.engines.local.small.join import Matches, cheapest, joined, lookups
from tidelog.engines.local.small.rule_shapes import Family, Shape, Step, member_of
from tidelog.engines.local.supports import Window
from tidelog.kernel.lookup import NONE, WIDTH, Lookup, Mixed, encode
from tidelog.kernel.rows import Ints, Mask
from tidelog.model.terms import TRIPLE
from tidelog.rules.syntax import Atom, Rule

_AT_ONCE = 500_000  # guards
_FEW = 256  # facts up to which a pair of a fact and a rule costs less than to see whether it is useful


class Backward:
    """Guarded rules by their guards, which are the first atoms of their bodies."""

    def __init__(self, dictionary: Dictionary, rules: Sequence[Rule]) -> None:
        lifted, members, others = [], [], []
        # A slot of rules looks in one relation; the first slot has all rules whose guard leaves nothing open.
        slots: dict[tuple[int, int] | None, int] = {None: 0}
        for rule in rules:
            pair = pair_of(*rule.atoms, dictionary) if len(rule.body) == len(rule.atoms) == 2 else None
            if pair is not None and len(free := free_columns(*pair)) < max(1, len(pair[1].filled())):
                key = (pair[1].number, free[0]) if free else None
                lifted.append((rule.atoms[0], *pair, slots.setdefault(key, len(slots))))
                continue
            member = member_of(rule, 0, dictionary, backward=True)
            if member is not None and _plans(member.shape):
                members.append((rule.atoms[0], member, rule))
            else:
                others.append((rule.atoms[0], rule))
        self.entries = Entries[Rule](dictionary, lifted, members, others, _plans)
        self.slots = list(slots)[: self.entries.first_family]
        self.left: Sequence[Rule] = [rule for _, rule in others]  # those of another kind
        self._wide = [r for r in self.left if not _is_narrow(r.atoms[0])]
        self.constants = self._constants([(made, i) for i, (_, _, made, slot) in enumerate(lifted) if slot == 0])
        # Windows must fit together, so each family goes on with the same place in all of them.
        self._plans: dict[Family, list[Step]] = {}
        self._readings: dict[bool, tuple[ref[LocalFacts], _Reading]] = {}

    def _constants(self, made: Sequence[tuple[Narrow, int]]) -> list[tuple[int, int, Ints, Ints]]:
        """Of bodies with a constant beside a variable, by relation and column: the rules, and the constants."""
        columns: dict[tuple[int, int], list[int]] = {}
        for body, rule in made:
            if len(body.filled()) == WIDTH and len(body.constants()) == 1:
                columns.setdefault((body.number, body.constants()[0]), []).append(rule)
        of = self.entries.templates.constants
        return [(n, c, np.array(rules), of[c][rules]) for (n, c), rules in columns.items()]

    def plan_of(self, matches: Matches, reads: Sequence[Lookup]) -> list[Step]:
        """The plan of a family: that which seemed best when it was first asked for."""
        if matches.family not in self._plans:
            self._plans[matches.family] = cheapest(matches, matches.family.plans, reads)
        return self._plans[matches.family]

    def supports(
        self, guards: LocalFacts, sources: LocalFacts, window: Window, work: Work
    ) -> tuple[LocalFacts, LocalFacts, list[Rule]] | None:
        """Body facts in the window, guards with more candidates, and the rules left; None if there are no codes.

        The rules alone decide which rules are left, and the sources whether there are codes. If the guards decided, two
        windows of a guard could use different plans and miss candidates.
        """
        bits = self.reading(sources, everything=True).bits
        if bits is None:
            return None
        looks = self._looks(guards, sources, window, work, bits, everything=True)
        more = _together(guards, [look.unfinished() for look in looks])
        return _together(guards, [look.bodies() for look in looks]), more, self._matched(guards, looks)

    def proofs(
        self, guards: LocalFacts, sources: LocalFacts, work: Work
    ) -> tuple[LocalFacts, LocalFacts, LocalFacts, list[Rule]] | None:
        """Guards for which a first candidate is a match, all others, body facts, and the rules that are left."""
        bits = self.entries.bits()
        if bits is None:
            return None
        looks = self._looks(guards, sources, (0, 1), work, bits, everything=False)
        proved = _together(guards, [look.provable() for look in looks])
        rest = _together(guards, [look.open() for look in looks]) if guards.few is not None else guards - proved
        return proved, rest, _together(guards, [look.bodies() for look in looks]), self._matched(guards, looks)

    def reading(self, sources: LocalFacts, everything: bool) -> _Reading:
        """Kept for the last sources of each verb, which are asked again and again."""
        known = self._readings.get(everything)
        if known is None or known[0]() is not sources:
            known = self._readings[everything] = ref(sources), _Reading(self, sources)
        return known[1]

    def _looks(
        self, guards: LocalFacts, sources: LocalFacts, window: Window, work: Work, bits: int, *, everything: bool
    ) -> list[_Look]:
        parts = self.entries.coded_parts(guards, bits, _AT_ONCE)
        looks = [_Look(self, part, sources, window, everything=everything) for part in parts]
        for look in looks:
            look.at_rules()
            work.derivations += look.matches
        return looks

    def _matched(self, guards: LocalFacts, looks: Sequence[_Look]) -> list[Rule]:
        """Rules of another kind that the guards may match."""
        matched = {id(rule): rule for look in looks for rule in look.others}
        if guards.few is None:
            matched.update((id(rule), rule) for rule in self._wide if guards.may_match(rule.atoms[0]))
        return list(matched.values())


def _together(facts: LocalFacts, parts: Sequence[Mixed]) -> LocalFacts:
    if len(parts) == 1:
        return facts.with_few(parts[0])
    return facts.with_few(Mixed.of(parts[0].bits, np.concatenate([p.codes for p in parts])) if parts else NONE)


def _is_narrow(atom: Atom) -> bool:
    return atom.predicate == TRIPLE or len(atom.args) <= WIDTH


@lru_cache(maxsize=10_000)
def _plans(shape: Shape) -> list[list[Step]]:
    """The plans that open one place at most: that is where the window is."""
    return [p for p in shape.plans() if sum(step.column is not None for step in p) <= 1]


class _Reading:
    """What there is to look at in some sources."""

    def __init__(self, backward: Backward, sources: LocalFacts) -> None:
        self._slots, self._constants, self._rules = backward.slots, backward.constants, backward.entries.lifted
        self._read = ref(sources)  # the caller holds them
        self._entries, self._bits = backward.entries, backward.entries.bits()
        self._likely: dict[int, int] = {}

    def _lookup(self, number: int) -> Lookup | None:
        sources = self._read()
        assert sources is not None
        return sources.lookup(number)

    @property
    def bits(self) -> int | None:
        """The width of ids in codes; None if there were no codes when this reading was made.

        A search that began with codes ends with codes, though the dictionary may outgrow them meanwhile: its guards are
        older than that.
        """
        if self._bits is not None:
            self._bits = self._entries.bits() or self._bits
        return self._bits

    @cached_property
    def useful(self) -> Mask:
        """Of the rules whose bodies are known completely: those with a constant that occurs, and all without one."""
        rules = np.ones(self._rules, dtype=np.bool_)
        for number, column, some, constants in self._constants:
            lookup = self._lookup(number)
            rules[some] = False if lookup is None else lookup.reach(column, constants).counts > 0
        return rules

    def order(self, part: Part) -> tuple[bool, int]:
        """Where most guards are likely to find something comes first; rules of more atoms come last."""
        slot = part.slot
        if slot >= len(self._slots):
            return True, slot
        if slot not in self._likely:
            self._likely[slot] = self._values(self._slots[slot])
        return False, -self._likely[slot]

    def _values(self, key: tuple[int, int] | None) -> int:
        """About how many values there are to find where a slot looks."""
        lookup = None if key is None else self._lookup(key[0])
        return 0 if key is None or lookup is None else lookup.values(1 - key[1])


class _Look:
    """One look at the candidates of some guards; unless `everything` is asked for, a match is enough for a guard."""

    def __init__(
        self, backward: Backward, facts: Mixed, sources: LocalFacts, window: Window, *, everything: bool
    ) -> None:
        self.backward, self.entries = backward, backward.entries
        self.facts, self.sources = facts, sources
        (self.start, self.stop), self.everything = window, everything
        self.columns = facts.first, facts.second
        self.others: list[Rule] = []
        self.more: Mask = np.zeros(len(facts), dtype=np.bool_)
        self.proved: Mask = np.zeros(len(facts), dtype=np.bool_)
        self.found = [np.empty(0, dtype=np.int64)]
        self.matches = 0
        self.is_done = False  # whether every guard has a match, and that is enough

    def bodies(self) -> Mixed:
        return Mixed.of(self.facts.bits, np.concatenate(self.found))

    def unfinished(self) -> Mixed:
        return self.facts.keep(self.more)

    def provable(self) -> Mixed:
        return self.facts.keep(self.proved)

    def open(self) -> Mixed:
        return self.facts.keep(~self.proved)

    def at_rules(self) -> None:
        entries, slots = self.entries, self.backward.slots
        parts = entries.parts(self.facts)
        if not self.everything:
            parts.sort(key=self._reading.order)
        for part in parts:
            if self.is_done:
                break
            if part.slot < len(slots):
                self._at_slot(part)
            elif part.slot < entries.last:
                self._at_family(part)
        self.others = entries.others((p for p in parts if p.slot == entries.last), self.facts)

    @property
    def _reading(self) -> _Reading:
        return self.backward.reading(self.sources, self.everything)

    @property
    def _known(self) -> Mask | None:
        """The guards that need not be looked at any more."""
        return self.proved if self.matches and not self.everything else None

    def _at_slot(self, part: Part) -> None:
        """Rules of one atom."""
        key = self.backward.slots[part.slot]
        if key is not None:
            self._at_relation(part, *key)
        elif self.start == 0:
            self._at_present(*part.pairs(self._known, self._reading.useful if len(self.facts) > _FEW else None))

    def _at_present(self, fact: Ints, rule: Ints) -> None:
        """Which of the bodies that are known completely are there."""
        if not len(fact):
            return
        codes = self.entries.templates.codes(self.facts, fact, rule)
        order = codes.argsort()
        order = order[self.sources.holds(Mixed(self.facts.bits, codes[order]))]
        self._note(fact[order], [codes[order]])

    def _at_relation(self, part: Part, number: int, free: int) -> None:
        """Rows of one relation, of which the guard leaves one column open."""
        lookup = self.sources.lookup(number)
        if lookup is None:
            return
        fact, rule = part.pairs(self._known)
        if not len(fact):
            return
        values = self.entries.templates.column(1 - free, self.facts, fact, rule)
        if not self.everything:
            which, other = lookup.first(1 - free, values)
        else:
            reach = lookup.reach(1 - free, values)
            if not np.count_nonzero(reach.counts):
                return
            which, other = reach.window(self.start, self.stop)
            self._note_more(fact, reach.counts)
        if not len(which):
            return
        bound = values[which]
        self._note(fact[which], [encode(self.facts.bits, number, *((other, bound) if free == 0 else (bound, other)))])

    def _at_family(self, part: Part) -> None:
        """Rules of more atoms."""
        family = self.entries.family(part)
        reads = lookups(family, [self.sources] * len(family.shape.body))
        if reads is None:
            return
        matches = self.entries.matches(part, self.columns, self._known)
        if not len(matches):
            return
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
        if not len(matches):
            return
        reach = matches.reach(opening, reads[opening.place])
        most = int(reach.counts.max(initial=0))
        last, block = (
            most if self.stop is None else min(most, self.stop),
            max(1, join.MOST // len(matches)),
        )
        for start in range(self.start, last, block):
            found = joined(matches.opened(opening, *reach.window(start, min(start + block, last))), checks, reads)
            assert found is not None
            self._note_matches(found)
        self._note_more(matches.fact, reach.counts)

    def _note_matches(self, matches: Matches) -> None:
        if len(matches):
            self._note(matches.fact, matches.codes(self.facts.bits, matches.family.shape.given))

    def _note(self, fact: Ints, codes: list[Ints]) -> None:
        self.matches += len(fact)
        self.proved[fact] = True
        self.is_done = not self.everything and np.count_nonzero(self.proved) == len(self.proved)
        self.found += codes

    def _note_more(self, fact: Ints, counts: Ints) -> None:
        if self.stop is not None:
            self.more[fact[counts > self.stop]] = True
