"""Why a fact does not hold: for each rule with that head, how much of its body matches, and what is missing.

The search extends sets of literals that match together by one connected literal at a time, as long as the larger set
still matches. The largest set is how far the rule gets; no other literal that could be added has a match with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from itertools import islice
from typing import Generic

from tidelog.algebra.sourced_rule import all_from
from tidelog.explain.explained_version import VALUE, Binding, ExplainedVersion, F, HeadRule, NumberedRule, variables_of
from tidelog.explain.proof import grounded, group_value
from tidelog.explain.render import Rendered, atom_text, fact_text
from tidelog.model.terms import Fact, Term
from tidelog.rules.printer import format_literal, format_rule, format_term
from tidelog.rules.syntax import Assignment, Atom, Literal, Negation, Rule, Variable, literal_variables

NEAREST = 3  # bindings shown
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


def failures(explained: ExplainedVersion[F], fact: Fact) -> Iterator[Failure]:
    """Yield, for each rule that may derive the fact, why it does not."""
    for head_rule in explained.index.head_rules(fact):
        yield _PartialMatch(explained, fact, head_rule).failure()


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
        return Failure(numbered, reached, self._shown(self.body[missing]), tuple(self._matches(chosen, NEAREST)))

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
    """Why a fact does not hold: how far each rule gets, and what is missing.

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
        for failure in self.failures:
            yield f"{failure.numbered.label}: {format_rule(failure.numbered.rule, self.prefixes)}"
            yield from (f"  {name:<7}  {what}" for name, what in self._parts(failure))
        if self.others:
            labels = [n.label for n in self.others]
            yield f"other heads: {', '.join(labels) if len(labels) <= _LISTED else f'{len(labels)} rules'}"

    def _parts(self, failure: Failure) -> Iterator[tuple[str, str]]:
        if failure.reached:
            yield "matches", ", ".join(self._literal(literal) for literal in failure.reached)
        nearest = [self._binding(b) for b in failure.nearest]
        if any(nearest):
            yield "nearest", "; ".join(nearest)
        if failure.missing is not None:
            yield "missing", self._literal(failure.missing)
        elif failure.value is not None:
            yield "gives", format_term(failure.value, self.prefixes)

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
            "rules": [self._failure(failure) for failure in self.failures],
            "other_heads": [n.number for n in self.others],
        }

    def _failure(self, failure: Failure) -> dict[str, object]:
        return {
            "rule": failure.numbered.number,
            "name": failure.numbered.rule.name,
            "text": format_rule(failure.numbered.rule, self.prefixes),
            "matches": [self._literal(literal) for literal in failure.reached],
            "missing": None if failure.missing is None else self._literal(failure.missing),
            "gives": None if failure.value is None else format_term(failure.value, self.prefixes),
            "nearest": [{v.name: format_term(t, self.prefixes) for v, t in b.items()} for b in failure.nearest],
        }

    def to_html(self) -> str:
        """A self-contained HTML fragment."""
        return f"<pre>{escape(self.tree())}</pre>"
