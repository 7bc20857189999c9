"""The rules of equality (Table 4 of the OWL 2 RL profile), without the reflexive ones.

Nothing is derived to be the same as itself: a query that means "equal or the same as" has to say both.
"""

from __future__ import annotations

from tidelog.rules.parser import parse_rules
from tidelog.rules.syntax import Rule

_AXIOMS = """
    #[name("eq-sym")]   [?y, owl:sameAs, ?x] :- [?x, owl:sameAs, ?y] .
    #[name("eq-trans")] [?x, owl:sameAs, ?z] :- [?x, owl:sameAs, ?y], [?y, owl:sameAs, ?z], NOT(SAMETERM(?x, ?z)) .
    #[name("eq-rep-s")] [?t, ?p, ?o] :- [?s, owl:sameAs, ?t], [?s, ?p, ?o], NOT(SAMETERM(?p, owl:sameAs)) .
    #[name("eq-rep-p")] [?s, ?q, ?o] :- [?p, owl:sameAs, ?q], [?s, ?p, ?o] .
    #[name("eq-rep-o")] [?s, ?p, ?u] :- [?o, owl:sameAs, ?u], [?s, ?p, ?o], NOT(SAMETERM(?p, owl:sameAs)) .
    #[name("eq-diff1")] #[report] :- [?x, owl:sameAs, ?y], [?x, owl:differentFrom, ?y] .
"""
_ALWAYS = '#[name("eq-diff1")] #[report] :- [?x, owl:differentFrom, ?x] .'


def difference() -> list[Rule]:
    """Nothing differs from itself: what remains to be checked where equal terms are rewritten to one."""
    return parse_rules(_ALWAYS)


def axioms() -> list[Rule]:
    """Equality as rules: symmetric, transitive, and equal things have the same triples."""
    return parse_rules(_AXIOMS)
