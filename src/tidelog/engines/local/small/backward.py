"""From few facts (guards) to the facts they could follow from, all rules at once: the verbs `supports` and `proofs`.

A rule with one body atom whose variables the guard all binds needs a test for one fact; all these tests are one lookup.
Any other rule with one body atom looks in one relation by one column; all rules that use this column do it together. A
family of rules with more atoms checks the atoms that the guard binds, looks at a window of one atom, checks the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from weakref import ref

import numpy as np

from tidelog import tuning
from tidelog.algebra.engine import Work
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.local.small.atom_index import NarrowAtom
from tidelog.engines.local.small.forward import SlotPairs, SlottedAtoms, free_columns, pair_of
from tidelog.engines.local.small.join import FamilyMatches, cheapest, joined, lookups
from tidelog.engines.local.small.rule_shapes import JoinStep, RuleFamily, RuleShape, RuleShapes
from tidelog.engines.local.supports import CandidateWindow
from tidelog.kernel.lookup import NO_ROWS, WIDTH, CodedRows, RelationLookup, encode
from tidelog.kernel.rows import Ints, Mask
from tidelog.model.terms import TRIPLE
from tidelog.rules.syntax import Atom, Rule


class Backward:
    """Finds supports: guarded rules by their guards, which are the first atoms of their bodies."""

    def __init__(self, shapes: RuleShapes, rules: Sequence[Rule]) -> None:
        dictionary = shapes.dictionary
        lifted, members, others = [], [], []
        # The rules of a slot look in one relation; slot 0 has all rules whose guard binds all variables.
        slots: dict[tuple[int, int] | None, int] = {None: 0}
        for rule in rules:
            pair = pair_of(*rule.atoms, dictionary) if len(rule.body) == len(rule.atoms) == 2 else None
            if pair is not None and len(free := free_columns(*pair)) < max(1, len(pair[1].filled())):
                key = (pair[1].number, free[0]) if free else None
                lifted.append((rule.atoms[0], *pair, slots.setdefault(key, len(slots))))
                continue
            member = shapes.of(rule, 0, backward=True)
            if member is not None and _plans(member.shape):
                members.append((rule.atoms[0], member, rule))
            else:
                others.append((rule.atoms[0], rule))
        self.entries = SlottedAtoms[Rule](dictionary, lifted, members, others, _plans)
        self.slots = list(slots)[: self.entries.first_family]
        self.left: Sequence[Rule] = [rule for _, rule in others]  # for the general path
        self._wide = [r for r in self.left if not _is_narrow(r.atoms[0])]
        self.constants = self._constants([(made, i) for i, (_, _, made, slot) in enumerate(lifted) if slot == 0])
        # All windows of a family use the same plan; otherwise they would not fit together.
        self._plans: dict[RuleFamily, list[JoinStep]] = {}
        self._searched: dict[bool, tuple[ref[LocalFacts], _SearchedSources]] = {}

    def _constants(self, made: Sequence[tuple[NarrowAtom, int]]) -> list[tuple[int, int, Ints, Ints]]:
        """Bodies with a constant and a variable: (relation, column of the constant, rules, their constants)."""
        columns: dict[tuple[int, int], list[int]] = {}
        for body, rule in made:
            if len(body.filled()) == WIDTH and len(body.constants()) == 1:
                columns.setdefault((body.number, body.constants()[0]), []).append(rule)
        of = self.entries.templates.constants
        return [(n, c, np.array(rules), of[c][rules]) for (n, c), rules in columns.items()]

    def plan_of(self, matches: FamilyMatches, reads: Sequence[RelationLookup]) -> list[JoinStep]:
        """The plan of a family: the cheapest for the first guards."""
        if matches.family not in self._plans:
            self._plans[matches.family] = cheapest(matches, matches.family.plans, reads)
        return self._plans[matches.family]

    def supports(
        self, guards: LocalFacts, sources: LocalFacts, window: CandidateWindow, work: Work
    ) -> tuple[LocalFacts, LocalFacts, list[Rule]] | None:
        """Body facts in the window, guards with more candidates, and the rules left; None if there are no codes.

        The rules alone decide which rules are left, and the sources whether there are codes. If the guards decided, two
        windows of a guard could use different plans and miss candidates.
        """
        bits = self.searched(sources, everything=True).bits
        if bits is None:
            return None
        searches = self._searches(guards, sources, window, work, bits, everything=True)
        more = _together(guards, [search.unfinished() for search in searches])
        return _together(guards, [search.bodies() for search in searches]), more, self._matched(guards, searches)

    def proofs(
        self, guards: LocalFacts, sources: LocalFacts, work: Work
    ) -> tuple[LocalFacts, LocalFacts, LocalFacts, list[Rule]] | None:
        """Guards whose first candidate is a match, other guards, body facts, and the rules left; None without codes."""
        bits = self.entries.bits()
        if bits is None:
            return None
        searches = self._searches(guards, sources, (0, 1), work, bits, everything=False)
        proved = _together(guards, [search.provable() for search in searches])
        rest = (
            _together(guards, [search.open() for search in searches]) if guards.coded is not None else guards - proved
        )
        return (
            proved,
            rest,
            _together(guards, [search.bodies() for search in searches]),
            self._matched(guards, searches),
        )

    def searched(self, sources: LocalFacts, everything: bool) -> _SearchedSources:
        """What is known of the sources; cached for the last sources of each verb."""
        known = self._searched.get(everything)
        if known is None or known[0]() is not sources:
            known = self._searched[everything] = ref(sources), _SearchedSources(self, sources)
        return known[1]

    def _searches(
        self,
        guards: LocalFacts,
        sources: LocalFacts,
        window: CandidateWindow,
        work: Work,
        bits: int,
        *,
        everything: bool,
    ) -> list[_GuardSearch]:
        parts = self.entries.coded_parts(guards, bits, tuning.BACKWARD_GUARDS)
        searches = [_GuardSearch(self, part, sources, window, everything=everything) for part in parts]
        for search in searches:
            search.at_rules()
            work.derivations += search.matches
        return searches

    def _matched(self, guards: LocalFacts, searches: Sequence[_GuardSearch]) -> list[Rule]:
        """Rules for the general path that the guards may match."""
        matched = {id(rule): rule for search in searches for rule in search.others}
        if guards.coded is None:
            matched.update((id(rule), rule) for rule in self._wide if guards.may_match(rule.atoms[0]))
        return list(matched.values())


def _together(facts: LocalFacts, parts: Sequence[CodedRows]) -> LocalFacts:
    """The union of the parts."""
    if len(parts) == 1:
        return facts.of_coded(parts[0])
    return facts.of_coded(CodedRows.of(parts[0].bits, np.concatenate([p.codes for p in parts])) if parts else NO_ROWS)


def _is_narrow(atom: Atom) -> bool:
    return atom.predicate == TRIPLE or len(atom.args) <= WIDTH


@lru_cache(maxsize=10_000)
def _plans(shape: RuleShape) -> list[list[JoinStep]]:
    """The plans with at most one free column: the window is on this column."""
    return [p for p in shape.plans() if sum(step.column is not None for step in p) <= 1]


class _SearchedSources:
    """What a search knows of the facts that it reads."""

    def __init__(self, backward: Backward, sources: LocalFacts) -> None:
        self._slots, self._constants, self._rules = backward.slots, backward.constants, backward.entries.lifted
        self._sources = ref(sources)  # the caller holds them
        self._entries, self._bits = backward.entries, backward.entries.bits()
        self._likely: dict[int, int] = {}

    def _lookup(self, number: int) -> RelationLookup | None:
        sources = self._sources()
        assert sources is not None
        return sources.lookup(number)

    @property
    def bits(self) -> int | None:
        """The width of ids in codes; None if there were no codes when the search began.

        A search that begins with codes ends with codes, even if the dictionary outgrows them meanwhile: the ids of its
        guards and facts are older.
        """
        if self._bits is not None:
            self._bits = self._entries.bits() or self._bits
        return self._bits

    @cached_property
    def useful(self) -> Mask:
        """Which rules of slot 0 can match: those without a constant in the body, or with one that occurs."""
        rules = np.ones(self._rules, dtype=np.bool_)
        for number, column, some, constants in self._constants:
            lookup = self._lookup(number)
            rules[some] = False if lookup is None else lookup.ranges(column, constants).counts > 0
        return rules

    def order(self, part: SlotPairs) -> tuple[bool, int]:
        """A sort key: slots where most guards are likely to find a match come first, rules with more atoms last."""
        slot = part.slot
        if slot >= len(self._slots):
            return True, slot
        if slot not in self._likely:
            self._likely[slot] = self._values(self._slots[slot])
        return False, -self._likely[slot]

    def _values(self, key: tuple[int, int] | None) -> int:
        """The estimated number of values in the column where a slot looks."""
        lookup = None if key is None else self._lookup(key[0])
        return 0 if key is None or lookup is None else lookup.values(1 - key[1])


class _GuardSearch:
    """One search for matches of some guards in one window; without `everything` one match per guard is enough."""

    def __init__(
        self, backward: Backward, facts: CodedRows, sources: LocalFacts, window: CandidateWindow, *, everything: bool
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
        self.is_done = False  # one match per guard is enough, and each guard has one

    def bodies(self) -> CodedRows:
        return CodedRows.of(self.facts.bits, np.concatenate(self.found))

    def unfinished(self) -> CodedRows:
        return self.facts.keep(self.more)

    def provable(self) -> CodedRows:
        return self.facts.keep(self.proved)

    def open(self) -> CodedRows:
        return self.facts.keep(~self.proved)

    def at_rules(self) -> None:
        entries, slots = self.entries, self.backward.slots
        parts = entries.parts(self.facts)
        if not self.everything:
            parts.sort(key=self._known_sources.order)
        for part in parts:
            if self.is_done:
                break
            if part.slot < len(slots):
                self._at_slot(part)
            elif part.slot < entries.last:
                self._at_family(part)
        self.others = entries.others((p for p in parts if p.slot == entries.last), self.facts)

    @property
    def _known_sources(self) -> _SearchedSources:
        return self.backward.searched(self.sources, self.everything)

    @property
    def _known(self) -> Mask | None:
        """The guards that need no further match."""
        return self.proved if self.matches and not self.everything else None

    def _at_slot(self, part: SlotPairs) -> None:
        """Rules with one body atom."""
        key = self.backward.slots[part.slot]
        if key is not None:
            self._at_relation(part, *key)
        elif self.start == 0:
            useful = self._known_sources.useful if len(self.facts) > tuning.UNFILTERED_GUARDS else None
            self._at_present(*part.pairs(self._known, useful))

    def _at_present(self, fact: Ints, rule: Ints) -> None:
        """Rules whose guard binds the whole body: test whether the body facts exist."""
        if not len(fact):
            return
        codes = self.entries.templates.codes(self.facts, fact, rule)
        order = codes.argsort()
        order = order[self.sources.holds(CodedRows(self.facts.bits, codes[order]))]
        self._note(fact[order], [codes[order]])

    def _at_relation(self, part: SlotPairs, number: int, free: int) -> None:
        """Rules that look in one relation, where the guard leaves the column `free` unbound."""
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
            ranges = lookup.ranges(1 - free, values)
            if not np.count_nonzero(ranges.counts):
                return
            which, other = ranges.window(self.start, self.stop)
            self._note_more(fact, ranges.counts)
        if not len(which):
            return
        bound = values[which]
        self._note(fact[which], [encode(self.facts.bits, number, *((other, bound) if free == 0 else (bound, other)))])

    def _at_family(self, part: SlotPairs) -> None:
        """Rules with more body atoms."""
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

    def _at_window(
        self, matches: FamilyMatches, opening: JoinStep, checks: Sequence[JoinStep], reads: Sequence[RelationLookup]
    ) -> None:
        """Look at the window of one atom, in blocks because the last window has no end."""
        if not len(matches):
            return
        ranges = matches.ranges(opening, reads[opening.atom])
        most = int(ranges.counts.max(initial=0))
        last, block = (
            most if self.stop is None else min(most, self.stop),
            max(1, tuning.SMALL_JOIN_BINDINGS // len(matches)),
        )
        for start in range(self.start, last, block):
            found = joined(matches.opened(opening, *ranges.window(start, min(start + block, last))), checks, reads)
            assert found is not None
            self._note_matches(found)
        self._note_more(matches.fact, ranges.counts)

    def _note_matches(self, matches: FamilyMatches) -> None:
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
