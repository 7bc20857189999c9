"""Removing growing parts of the explicit facts, as in Table 2 of the Backward/Forward paper, and what it leaves out.

Every set of removed facts contains the one before it. Adding the same facts again is measured with it; then changes of
one fact, and the removal of rules that support little.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from bench.maintenance.contest import BASELINE, Contest, Result, Say
from bench.maintenance.subject import Subject
from bench.measure import Limits, MeasurementError
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.rules.syntax import Rule

EVERY = (BASELINE, *(name for name in ALGORITHMS if name != BASELINE))
COUNTS = (100, 5_000)
PARTS = (0.01, 0.02, 0.03, 0.05, 0.075, 0.15)
SINGLE = 200  # changes of one fact
MINOR = 0.01  # of the facts: rules that support less are minor
SEED = 1


def measure(subject: Subject, predicate: str, limits: Limits, say: Say) -> Result:
    sizes = sorted({n for n in (*COUNTS, *(int(part * subject.explicit) for part in PARTS)) if n < subject.explicit})
    return {
        "explicit": subject.explicit,
        "facts": subject.facts,
        "closure": {"seconds": subject.closure.seconds, "derivations": subject.closure.work.derivations},
        "removals": removals(subject, predicate, sizes, limits, say),
        "single": singles(subject, predicate, SINGLE, limits, say),
        "rules": minor_rules(subject, limits, say),
        "counting": subject.counting,
    }


def removals(subject: Subject, predicate: str, sizes: Sequence[int], limits: Limits, say: Say) -> list[Result]:
    contest = Contest(EVERY, limits, say)
    rows = []
    for size, facts in zip(sizes, subject.samples(predicate, sizes, SEED), strict=True):
        say(f"  {size:,} facts removed, and added again")
        lost, algorithms = contest.run(subject, subject.removal(facts))
        rows.append({"removed": size, "lost": len(lost), "algorithms": algorithms})
    return rows


def singles(subject: Subject, predicate: str, count: int, limits: Limits, say: Say) -> Result:
    """Percentiles over random facts, each removed and added again; rematerialising is the same for any change."""
    (sample,) = subject.samples(predicate, [min(count, subject.explicit)], SEED + 1)
    facts = list(sample)
    results: Result = {}
    for name in EVERY:
        if name == BASELINE:
            continue
        try:
            with subject.limited(2 * limits.seconds):
                pairs = list(subject.single_changes(name, facts, limits.seconds))
            results[name] = {"changes": len(pairs), **_percentiles(pairs)}
            say(f"  single facts, {name}: {results[name]}")
        except MeasurementError as failure:
            results[name] = {"skipped": str(failure)}
    return results


def _percentiles(pairs: Sequence[tuple[float, float]]) -> Result:
    if not pairs:
        raise MeasurementError("no change within the time limit")
    kinds = zip(("remove", "add"), zip(*pairs, strict=True), strict=True)
    return {kind: {"p50": percentile(times, 50), "p99": percentile(times, 99)} for kind, times in kinds}


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` percent of the values do not exceed."""
    return sorted(values)[max(0, ceil(percent / 100 * len(values)) - 1)]


def minor_rules(subject: Subject, limits: Limits, say: Say) -> list[Result]:
    rows = []
    for support, rule in choose_rules(subject):
        say(f"  without a rule that derives {support:,} facts")
        lost, algorithms = Contest(EVERY, limits, say).run(subject, subject.without(rule))
        rows.append({"rule": str(rule), "support": support, "lost": len(lost), "algorithms": algorithms})
    return rows


def choose_rules(subject: Subject) -> list[tuple[int, Rule]]:
    """Of the rules that derive something and less than `MINOR`: the one that derives most, the median, the least."""
    supports = [(subject.supported(rule), rule) for rule in subject.kb.rules if rule.heads]
    minor = sorted((s for s in supports if 0 < s[0] < MINOR * subject.facts), key=lambda s: (-s[0], str(s[1])))
    picked = {0, len(minor) // 2, len(minor) - 1}
    return [minor[i] for i in sorted(picked) if minor]
