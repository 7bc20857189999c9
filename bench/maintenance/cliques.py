"""The bad case: one edge less in a symmetric and transitive relation, whose clique survives or shrinks by a vertex."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bench.maintenance.contest import BASELINE, Contest, Result, Say
from bench.maintenance.subject import Subject
from bench.measure import Limits
from tidelog.generate.cliques import PREDICATE, clique
from tidelog.model.terms import Fact, iri

ALGORITHMS = (BASELINE, "bf", "dred", "fp")
SCENARIOS = ("surviving", "shrinking")


def measure(sizes: Sequence[int], opened: Callable[[int], Subject], limits: Limits, say: Say) -> Result:
    """Each size with both edges; who fails at a size is not asked at the next."""
    contests = {scenario: Contest(ALGORITHMS, limits, say) for scenario in SCENARIOS}
    rows: list[Result] = []
    for size in sizes:
        subject = opened(size)
        for scenario, contest in contests.items():
            say(f"  clique of {size}, {scenario}")
            rows.append(_one_edge_less(subject, size, scenario, contest))
        subject.kb.close()
    return {"cliques": rows}


def _one_edge_less(subject: Subject, size: int, scenario: str, contest: Contest) -> Result:
    edges = clique(size)
    x, y = edges.redundant if scenario == "surviving" else edges.bridge
    edge = subject.collect([Fact(PREDICATE, (iri(x), iri(y)))])
    lost, algorithms = contest.run(subject, subject.removal(edge))
    return {
        "constants": size,
        "scenario": scenario,
        "explicit": subject.explicit,
        "facts": subject.facts,
        "closure": {"seconds": subject.closure.seconds, "derivations": subject.closure.work.derivations},
        "lost": len(lost),
        "algorithms": algorithms,
    }
