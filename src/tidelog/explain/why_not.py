"""What `why_not` gives back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

from tidelog.explain.absence import Failure
from tidelog.explain.subject import Binding, Numbered
from tidelog.explain.text import atom_text, fact_text
from tidelog.model.facts import Fact
from tidelog.rules.printer import format_literal, format_rule, format_term
from tidelog.rules.syntax import Atom, Literal, Negation

_LISTED = 5  # rules that are named though they have nothing to do with it


@dataclass(frozen=True)
class WhyNot:
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
    known: bool  # whether any fact or rule has this predicate
    failures: tuple[Failure, ...]
    others: tuple[Numbered, ...]  # rules of this predicate whose heads are other facts
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def tree(self) -> str:
        """As text, one rule after the other."""
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
        """As plain objects."""
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

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def to_html(self) -> str:
        """A fragment of HTML that needs nothing else."""
        return f"<pre>{escape(self.tree())}</pre>"

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return self.tree()

    def __repr__(self) -> str:
        return self.tree()
