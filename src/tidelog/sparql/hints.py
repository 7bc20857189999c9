"""What a filter says about a variable before it is evaluated: that it is one of a few IRIs."""

from __future__ import annotations

from tidelog.model.terms import Term, is_iri
from tidelog.rules.syntax import Variable
from tidelog.sparql.algebra import Call, Expression

Choice = tuple[Variable, tuple[Term, ...]]


def choice(condition: Expression) -> Choice | None:
    """A variable and the only terms for which a condition can hold: an IRI equals nothing but itself."""
    match condition:
        case Call("&&", (left, right)):
            return choice(left) or choice(right)
        case Call("=" | "SAMETERM", (Variable() as variable, str() as term)) if is_iri(Term(term)):
            return variable, (Term(term),)
        case Call("=" | "SAMETERM", (str() as term, Variable() as variable)) if is_iri(Term(term)):
            return variable, (Term(term),)
        case Call("IN", (Variable() as variable, *terms)):
            known = tuple(Term(t) for t in terms if isinstance(t, str) and is_iri(Term(t)))
            return (variable, tuple(dict.fromkeys(known))) if len(known) == len(terms) else None
        case _:
            return None
