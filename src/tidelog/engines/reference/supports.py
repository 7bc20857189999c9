"""The verb `supports` by nested loops: a window on the sorted matches of each guard fact."""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.algebra.engine import Work
from tidelog.algebra.extended import Extended
from tidelog.engines.reference.engine import Binding, ground, matches
from tidelog.engines.reference.fact_set import ReferenceFacts
from tidelog.model.facts import Fact


def supports(
    rules: Sequence[Extended[ReferenceFacts]], start: int, stop: int | None, work: Work
) -> tuple[ReferenceFacts, ReferenceFacts]:
    bodies: list[Fact] = []
    unfinished: list[Fact] = []
    for extended in rules:
        guard, *atoms = extended.rule.atoms
        by_guard: dict[Fact, list[Binding]] = {}
        for match in matches(extended):
            by_guard.setdefault(Fact(guard.predicate, ground(guard, match)), []).append(match)
        for fact, found in by_guard.items():
            shown = sorted(found, key=lambda match: sorted((v.name, t) for v, t in match.items()))[start:stop]
            work.derivations += len(shown)
            bodies += [Fact(atom.predicate, ground(atom, match)) for match in shown for atom in atoms]
            if stop is not None and len(found) > stop:
                unfinished.append(fact)
    return ReferenceFacts(bodies), ReferenceFacts(unfinished)
