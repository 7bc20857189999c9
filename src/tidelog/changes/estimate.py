"""How much work a change would be, estimated from a few of its facts before any is done.

Level by level, after Knuth's estimate of the size of a tree. A sample of each level is followed for one step and stands
for the whole level. The facts that are new in this step are the next level.

    gained   heads of H <- .. Bi[sample] ..[I]  that are not in I
    lost     heads that are in I, not explicit, and have no other match at first sight

So it costs the same whether a change is small or large. It is an estimate: equal consequences of different facts are
counted each time, a match that goes in a circle passes for another proof, and negation and aggregates are overlooked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tidelog import tuning
from tidelog.algebra.engine import Work
from tidelog.algebra.fact_set import shown_count
from tidelog.algebra.sourced_rule import all_from, pivoted_at, with_body
from tidelog.changes.result import Prediction
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.rules.syntax import Rule

# From the heads of a level, what was met before and what each stands for, to the next level.
Following = Callable[[LocalFacts, LocalFacts, float], LocalFacts]


@dataclass
class Estimate:
    """Sums that grow level by level."""

    derivations: float = 0
    facts: float = 0


@dataclass
class Forecast:
    """One change: the facts before it, and the explicit facts after it."""

    engine: LocalEngine
    I: LocalFacts
    E: LocalFacts
    kept: Sequence[Rule]  # the rules that stay or come
    gain: Estimate = field(default_factory=Estimate)
    loss: Estimate = field(default_factory=Estimate)

    def __post_init__(self) -> None:
        self.rules = tuple(r for r in self.kept if r.atoms and r.heads and r.aggregate is None)
        self.guarded = tuple(with_body(r, h) for r in self.rules for h in r.heads)

    def added(self, facts: LocalFacts, weight: float = 1) -> None:
        """Facts, each standing for so many, are new."""
        self._spread(self.gain, facts - self.I, weight, self._new)

    def removed(self, facts: LocalFacts, weight: float = 1) -> None:
        """Facts, each standing for so many, may have lost their support."""
        sample, weight = _thinned(facts & self.I, weight)
        self._spread(self.loss, self._unproved(sample, facts, weight), weight, self._lost)

    def _new(self, heads: LocalFacts, seen: LocalFacts, weight: float) -> LocalFacts:
        return heads - self.I - seen

    def _lost(self, heads: LocalFacts, seen: LocalFacts, weight: float) -> LocalFacts:
        return self._unproved((heads & self.I) - seen, seen, weight)

    def _unproved(self, facts: LocalFacts, without: LocalFacts, weight: float) -> LocalFacts:
        """Those that are not explicit and have no match without some others, at first sight."""
        open_ = facts - self.E
        if not open_ or not self.guarded:
            return open_
        work, rest = Work(), self.I - without
        proved, _, _ = self.engine.proofs(self.guarded, open_, rest, rest, work)
        self.loss.derivations += weight * work.derivations
        return open_ - proved

    def _spread(self, sums: Estimate, level: LocalFacts, weight: float, following: Following) -> None:
        seen = level
        for _ in range(tuning.PREDICTED_LEVELS):
            if not level:
                return
            sums.facts += weight * shown_count(level)
            sample, weight = _thinned(level, weight)
            work, right = Work(), self.I | sample
            heads = self.engine.derive_pivoted(self.rules, right - sample, sample, right, self.I, work)
            sums.derivations += weight * work.derivations
            level = following(heads, seen, weight)
            seen = seen | level

    def matched(self, rules: Iterable[Rule], then: Callable[[LocalFacts, float], None], sums: Estimate) -> None:
        """What rules derive from all that holds, from a sample of the rarest atom of each; then what comes of that."""
        for rule in rules:
            if not rule.atoms or not all(self.I.may_match(a) for a in rule.atoms):
                continue
            sets = [self.engine.derive([all_from(Rule((a,), (a,)), self.I)], Work()) for a in rule.atoms]
            rarest = min(range(len(sets)), key=lambda i: len(sets[i]))
            (sample, weight), work = _thinned(sets[rarest], 1), Work()
            heads = self.engine.derive([pivoted_at(rule, rarest, self.I, sample, self.I, self.I)], work)
            sums.derivations += weight * work.derivations
            then(heads, weight)

    def prediction(self) -> Prediction:
        gain, loss = self.gain, self.loss
        return Prediction(round(gain.derivations + loss.derivations), round(gain.facts), round(loss.facts))


def _thinned(facts: LocalFacts, weight: float) -> tuple[LocalFacts, float]:
    """A sample, and for how many facts each of it stands."""
    sample = facts.sample(tuning.PREDICTED_SAMPLE)
    return sample, weight * len(facts) / len(sample) if sample else weight


def predict(
    engine: LocalEngine,
    I: LocalFacts,
    E: LocalFacts,
    before: Sequence[Rule],
    after: Sequence[Rule],
    new: LocalFacts,
    gone: LocalFacts,
) -> Prediction:
    """For facts that become explicit or cease to be, and rules that come and go; E is after the change."""
    old, keys = {r.key for r in before}, {r.key for r in after}
    forecast = Forecast(engine, I, E, after)
    forecast.added(new)
    forecast.removed(gone)
    forecast.matched((r for r in after if r.key not in old), forecast.added, forecast.gain)
    forecast.matched((r for r in before if r.key not in keys), forecast.removed, forecast.loss)
    return forecast.prediction()
