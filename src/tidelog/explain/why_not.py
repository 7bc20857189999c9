"""Why a fact does not hold: for each rule with that head, how much of its body matches, and what is missing.

The search extends sets of literals that match together by one connected literal at a time, as long as the larger set
still matches. The largest set is how far the rule gets; no other literal that could be added has a match with it.

The rules are ranked: the rule with the fewest missing literals is the nearest. If a literal of a helper relation is
missing, the nearest rule of that helper says what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from itertools import islice
from typing import Generic

from tidelog.algebra.sourced_rule import all_from
from tidelog.explain.explained_version import (
    VALUE,
    Binding,
    ExplainedVersion,
    F,
    HeadRule,
    NumberedRule,
    ground_atom,
    variables_of,
)
from tidelog.explain.proof import grounded, group_value
from tidelog.explain.render import Rendered, atom_text, fact_text
from tidelog.model.terms import Fact, Term, is_helper
from tidelog.rules.analysis.normalise import replace_in_atom
from tidelog.rules.printer import format_literal, format_rule, format_term
from tidelog.rules.syntax import Assignment, Atom, Literal, Negation, Rule, Variable, literal_variables

NEAREST = 3  # bindings of a rule, and rules, that are shown
_UNKNOWN = 2  # how far a helper atom counts that still has variables
_DEEPEST = 30  # helper facts below helper facts; a list of classes has one for each
_SETS = 32  # sets of literals that are extended in each round; a body of six literals has fewer


@dataclass(frozen=True)
class Failure:
    """How far a rule gets towards a fact.

    `reached` are the literals that match together; `missing` is one that does not match with them. It is None if all
    match and an aggregate has another `value`. Both contain the values of the head. `nearest` are some bindings of
    `reached`.
    """

    numbered: NumberedRule
    reached: tuple[Literal, ...]
    missing: Literal | None
    nearest: tuple[Binding, ...]
    value: Term | None = None
    distance: int = 0  # the number of literals that are missing
    matched: int = 0  # the number of atoms that match

    @property
    def rank(self) -> tuple[int, int, int]:
        """Fewest missing literals first, then most atoms that match, then the first rule."""
        return self.distance, -self.matched, self.numbered.number


def failures(explained: ExplainedVersion[F], fact: Fact, depth: int = 0) -> list[Failure]:
    """For each rule that may derive the fact, why it does not; the nearest rule first."""
    found = (_PartialMatch(explained, fact, head_rule).failure() for head_rule in explained.index.head_rules(fact))
    return sorted((_through_helpers(explained, each, depth) for each in found), key=lambda failure: failure.rank)


def _through_helpers(explained: ExplainedVersion[F], failure: Failure, depth: int) -> Failure:
    """The failure, with what the nearest rule of the missing helper fact lacks in the place of that fact."""
    missing = failure.missing
    if not isinstance(missing, Atom) or not is_helper(missing.predicate):
        return failure
    found = []
    for binding in failure.nearest[: 1 if depth else None] if depth < _DEEPEST else ():
        atom = replace_in_atom(missing, binding)
        if not any(True for _ in atom.variables()):
            below = failures(explained, ground_atom(atom, {}), depth + 1)[:1]
            found += [_joined(failure, binding, each) for each in below]
    return min(found, key=lambda each: each.rank, default=replace(failure, distance=failure.distance - 1 + _UNKNOWN))


def _joined(failure: Failure, binding: Binding, below: Failure) -> Failure:
    """The failure under one binding, and below it that of the missing helper fact."""
    inside = below.nearest[0] if below.nearest else {}
    reached = [grounded(literal, binding) for literal in failure.reached]
    reached += [grounded(literal, inside) for literal in below.reached]
    missing = below.missing and grounded(below.missing, inside)
    shown = (literal for literal in reached if not (isinstance(literal, Atom) and is_helper(literal.predicate)))
    distance = failure.distance - 1 + below.distance
    matched = failure.matched + below.matched
    return Failure(failure.numbered, tuple(dict.fromkeys(shown)), missing, (), below.value, distance, matched)


class _PartialMatch(Generic[F]):
    """A rule, and the fact that it should derive."""

    def __init__(self, explained: ExplainedVersion[F], fact: Fact, head_rule: HeadRule) -> None:
        self.explained, self.head_rule = explained, head_rule
        self.guard = explained.one(fact)
        self.head = head_rule.values_of(fact)
        self.body = head_rule.rule.body
        self.binders = set(variables_of(head_rule.guarded))

    def failure(self) -> Failure:
        chosen = self._furthest()
        numbered, rest = self.head_rule.numbered, [i for i in range(len(self.body)) if i not in chosen]
        reached = tuple(self._shown(self.body[i]) for i in sorted(chosen))
        if not rest:
            matches = list(self._matches(chosen, None))
            value = (
                group_value(self.head_rule, matches) if self.head_rule.rule.aggregate is not None and matches else None
            )
            return Failure(numbered, reached, None, tuple(matches[:NEAREST]), value)
        missing = next(i for i in rest if self._is_ready(i, chosen))
        nearest = tuple(self._matches(chosen, NEAREST))
        matched = sum(isinstance(literal, Atom) for literal in reached)
        return Failure(numbered, reached, self._shown(self.body[missing]), nearest, None, len(rest), matched)

    def _furthest(self) -> frozenset[int]:
        """The largest set of literals that match together."""
        sets = [frozenset[int]()]
        while more := list(islice(self._extended(sets), _SETS)):
            sets = more
        return sets[0]

    def _extended(self, sets: Iterable[frozenset[int]]) -> Iterator[frozenset[int]]:
        seen: set[frozenset[int]] = set()
        for chosen in sets:
            for i in range(len(self.body)):
                larger = chosen | {i}
                if i not in chosen and larger not in seen and self._is_ready(i, chosen):
                    seen.add(larger)
                    if any(True for _ in self._matches(larger, 1)):
                        yield larger

    def _is_ready(self, i: int, chosen: frozenset[int]) -> bool:
        """Whether a literal can be added next: an atom if it is connected, others when their variables have values."""
        literal, bound = self.body[i], set(variables_of(self._rule(chosen)))
        if isinstance(literal, Atom):
            return _is_connected(literal, bound) or not any(
                isinstance(b, Atom) and n not in chosen and _is_connected(b, bound) for n, b in enumerate(self.body)
            )
        needed = literal_variables(literal) & self.binders
        return needed - ({literal.variable} if isinstance(literal, Assignment) else set()) <= bound

    def _rule(self, chosen: Iterable[int]) -> Rule:
        return Rule((), (self.head_rule.head, *(self.body[i] for i in sorted(chosen))), cartesian=True)

    def _matches(self, chosen: Iterable[int], limit: int | None) -> Iterator[Binding]:
        """Yield values of the variables that do not occur in the head."""
        rule = self._rule(chosen)
        variables = [v for v in variables_of(rule) if v not in self.head or limit is None]
        rows = self.explained.engine.instances(
            self.explained.sourced(rule, self.guard, self.explained.I), variables, limit
        )
        return ({v: t for v, t in zip(variables, row, strict=True) if v != VALUE} for row in rows)

    def _shown(self, literal: Literal) -> Literal:
        return grounded(literal, self.head)


def _is_connected(atom: Atom, bound: set[Variable]) -> bool:
    variables = set(atom.variables())
    return not variables or not variables.isdisjoint(bound)


def has_match(explained: ExplainedVersion[F], atom: Atom) -> bool:
    """Whether a fact matches the atom."""
    return any(True for _ in explained.engine.instances(all_from(Rule((), (atom,)), explained.I), (), 1))


_LISTED = 5  # rules with other heads that are listed by name


@dataclass(frozen=True, repr=False)
class WhyNot(Rendered):
    """Why a fact does not hold: how far each rule gets, and what is missing; the nearest rule first.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="parent(ann, bob) .", add_rules="aunt(?x, ?z) :- sister(?x, ?y), parent(?y, ?z) .")
    >>> print(kb.why_not("aunt(eve, bob)"))
    aunt(eve, bob) does not hold: it is not explicit, and no rule derives it
    rule 1: aunt(?x, ?z) :- sister(?x, ?y), parent(?y, ?z) .
      matches  parent(?y, bob)
      nearest  ?y = ann
      missing  sister(eve, ?y)
    """

    fact: Fact
    holds: bool
    known: bool  # whether a fact or a rule has this predicate
    failures: tuple[Failure, ...]
    others: tuple[NumberedRule, ...]  # rules of this predicate whose heads cannot be this fact
    prefixes: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = NEAREST  # rules that are shown

    @property
    def nearest(self) -> tuple[Failure, ...]:
        """The failures that are shown: those of the nearest rules."""
        return self.failures[: self.limit]

    def tree(self) -> str:
        """The explanation as text, rule by rule."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        text = fact_text(self.fact, self.prefixes)
        if self.holds:
            yield f"{text} holds; explain says why"
            return
        if not self.known:
            yield f"{text} does not hold: no fact and no rule has {self.fact.predicate}"
            return
        reason = "and no rule derives it" if self.failures else "and no rule has a head that could be this fact"
        yield f"{text} does not hold: it is not explicit, {reason}"
        for failure in self.nearest:
            yield f"{failure.numbered.label}: {format_rule(failure.numbered.rule, self.prefixes)}"
            yield from (f"  {name:<7}  {what}" for name, what in self._parts(failure))
        if more := len(self.failures) - len(self.nearest):
            yield f"{more} more rules are further away; limit=None shows them all"
        if self.others:
            labels = [n.label for n in self.others]
            yield f"other heads: {', '.join(labels) if len(labels) <= _LISTED else f'{len(labels)} rules'}"

    def _parts(self, failure: Failure) -> Iterator[tuple[str, str]]:
        if matches := self._matches(failure):
            yield "matches", ", ".join(matches)
        nearest = [self._binding(b) for b in failure.nearest]
        if any(nearest):
            yield "nearest", "; ".join(nearest)
        if failure.missing is not None:
            yield "missing", self._literal(failure.missing)
        elif failure.value is not None:
            yield "gives", format_term(failure.value, self.prefixes)

    def _matches(self, failure: Failure) -> list[str]:
        """The texts of the literals that match, without those of helper relations."""
        helpers = (isinstance(literal, Atom) and is_helper(literal.predicate) for literal in failure.reached)
        return [self._literal(each) for each, helper in zip(failure.reached, helpers, strict=True) if not helper]

    def _binding(self, binding: Binding) -> str:
        return ", ".join(f"{v} = {format_term(t, self.prefixes)}" for v, t in binding.items() if v.name[:1] != "_")

    def _literal(self, literal: Literal) -> str:
        if isinstance(literal, Negation):
            return f"not {atom_text(literal.atom, self.prefixes)}"
        return (
            atom_text(literal, self.prefixes) if isinstance(literal, Atom) else format_literal(literal, self.prefixes)
        )

    def to_dict(self) -> dict[str, object]:
        """The explanation as plain objects."""
        return {
            "fact": fact_text(self.fact, self.prefixes),
            "holds": self.holds,
            "rules": [self._failure(failure) for failure in self.nearest],
            "more_rules": len(self.failures) - len(self.nearest),
            "other_heads": [n.number for n in self.others],
        }

    def _failure(self, failure: Failure) -> dict[str, object]:
        return {
            "rule": failure.numbered.number,
            "name": failure.numbered.rule.name,
            "text": format_rule(failure.numbered.rule, self.prefixes),
            "matches": self._matches(failure),
            "missing": None if failure.missing is None else self._literal(failure.missing),
            "gives": None if failure.value is None else format_term(failure.value, self.prefixes),
            "nearest": [{v.name: format_term(t, self.prefixes) for v, t in b.items()} for b in failure.nearest],
        }

    def to_html(self) -> str:
        """A self-contained HTML fragment."""
        return f"<pre>{escape(self.tree())}</pre>"
