"""Rules made from rules: a negated atom made positive."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from tidelog.rules.analysis.normalise import fresh_variables
from tidelog.rules.syntax import Atom, Rule, Variable, literal_variables


@lru_cache(maxsize=20_000)
def unnegated(rule: Rule, number: int) -> Rule:
    """The rule with its `number`th negated atom put in front; variables of that atom alone get other names."""
    negation = rule.negations[number]
    others = {v for b in rule.body if b is not negation for v in literal_variables(b)}
    fresh = fresh_variables(v.name for b in rule.body for v in literal_variables(b))
    own = {v: next(fresh) for v in dict.fromkeys(negation.atom.variables()) if v not in others}
    args = tuple(own.get(a, a) if isinstance(a, Variable) else a for a in negation.atom.args)
    return replace(rule, body=(Atom(negation.atom.predicate, args), *rule.body))
