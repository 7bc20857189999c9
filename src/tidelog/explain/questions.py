"""The questions that can be asked about one version of a knowledge base; `loss` compares two."""

from __future__ import annotations

from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.errors import UsageError
from tidelog.explain.every import every
from tidelog.explain.explanation import Explanation
from tidelog.explain.heights import MOST
from tidelog.explain.names import Named, named_subject
from tidelog.explain.proof import Proof
from tidelog.explain.reading import read_fact
from tidelog.explain.shortest import shortest
from tidelog.explain.text import fact_text
from tidelog.model.facts import Fact
from tidelog.state import State


def named(engine: LocalEngine, state: State) -> Named[LocalFacts]:
    """A version, ready to be explained."""
    rules, kept = state.program.after, state.kept
    return named_subject(engine, state.E, state.I, rules, state.prefixes, state.options, kept)


def explain(
    engine: LocalEngine, state: State, fact: object, all_proofs: int | None = None, most: int = MOST
) -> Explanation:
    """A lowest proof of a fact, or at most so many of its proofs."""
    if all_proofs is not None and all_proofs < 1:
        raise UsageError(f"all_proofs is {all_proofs}; give the largest number of proofs, such as 10")
    asked, subject = read_fact(fact, state.prefixes), named(engine, state)
    if not holds(subject, asked):
        text = fact_text(asked, state.prefixes)
        raise UsageError(f"{text} does not hold, so it has no proof; why_not says what is missing")
    return Explanation(proofs(subject, asked, all_proofs, most), state.prefixes)


def holds(named: Named[LocalFacts], fact: Fact) -> bool:
    return named.subject.holds(named.stored(fact))


def proofs(named: Named[LocalFacts], fact: Fact, limit: int | None = None, most: int = MOST) -> tuple[Proof, ...]:
    """Proofs of a fact that holds."""
    stored = named.stored(fact)
    roots = [shortest(named.subject, stored, most)] if limit is None else every(named.subject, stored, limit)
    return tuple(Proof(named.shown(fact, root)) for root in roots)
