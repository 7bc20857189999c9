"""The engine over sets in shards. The driver itself runs rules that read few rows; one job runs the others.

`PlanCache` keeps the plan of a rule as long as the sizes of what it reads stay similar.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from tidelog import tuning
from tidelog.algebra.engine import Work, proofs_by_supports
from tidelog.algebra.sourced_rule import SourcedRule, guarded, pivoted
from tidelog.dictionary import Dictionary
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.spark.cluster.cluster import Cluster
from tidelog.engines.spark.sharded.driver import Driver, ShardResults, facts_of, tally_of, within
from tidelog.engines.spark.sharded.facts import SparkFacts, SparkTally, operate
from tidelog.engines.spark.sharded.nodes import DriverSet, Ones, SetNode, StoredSet
from tidelog.engines.spark.sharded.plan import ALL, RulePlan, plan
from tidelog.engines.spark.sharded.set_expressions import SetPart, atoms_of, part_of
from tidelog.engines.spark.sharded.shard_files import ShardFile
from tidelog.engines.spark.sharded.tasks import Repartition
from tidelog.engines.spark.sharded.worker_cache import Evaluation, PlanEntry, SupportWindow
from tidelog.model.terms import TRIPLE, Fact, Term
from tidelog.rules.syntax import Assignment, Atom, Call, Condition, Expression, Rule, Variable
from tidelog.settings import Settings


@dataclass(frozen=True, eq=False)
class PreparedPlan:
    """A plan, its pickled form for tasks, and the constants of its rule."""

    plan: RulePlan
    pickled: bytes
    constants: tuple[Term, ...]
    looks_at_terms: bool


class PlanCache:
    """The plans of one engine."""

    def __init__(self, dictionary: Dictionary, few: int) -> None:
        self.dictionary = dictionary
        self.few = few
        self._prepared: dict[tuple[Rule, tuple[int, ...], tuple[bool, ...]], PreparedPlan] = {}

    def prepare(self, rule: Rule, sources: Sequence[SetNode]) -> PreparedPlan:
        atoms = atoms_of(rule)
        parts = [part_of(atom, self.dictionary.encode) for atom in atoms]
        sizes = [node.reading(part) for node, part in zip(sources, parts, strict=True)]
        skewed = tuple(_is_skewed(node, part) for node, part in zip(sources, parts, strict=True))
        key = rule, tuple(-1 if size <= self.few else size.bit_length() for size in sizes), skewed
        found = self._prepared.get(key)
        if found is None:
            if len(self._prepared) >= tuning.PREPARED_RULES:
                self._prepared.clear()
            found = self._prepared[key] = self._make(rule, sizes, skewed)
        return found

    def _make(self, rule: Rule, sizes: Sequence[int], skewed: Sequence[bool]) -> PreparedPlan:
        atoms = atoms_of(rule)

        def is_skewed(source: int, argument: int) -> bool:
            return skewed[source] and argument == (2 if atoms[source].predicate == TRIPLE else 1)

        # A copy, because the cached hash of a rule is wrong in other processes.
        made = plan(replace(rule), sizes, self.few, is_skewed)
        terms = len(rule.literals) < len(rule.body) or rule.aggregate is not None
        return PreparedPlan(made, pickle.dumps(made), tuple(dict.fromkeys(constants_of(rule))), terms)


def _is_skewed(node: SetNode, part: SetPart) -> bool:
    """Whether one value has a large share of the rows in the second column of a relation."""
    stats = node.resolved().stats
    for stat in map(stats.__getitem__, part.among(stats)):
        if stat.popular and max(stat.popular.values()) * tuning.SKEW_SHARE > stat.rows:
            return True
    return False


def constants_of(rule: Rule) -> Iterator[Term]:
    """All terms that a rule contains."""
    for atom in (*rule.heads, *atoms_of(rule)):
        yield from (Term(a) for a in atom.args if isinstance(a, str))
    for literal in rule.body:
        if isinstance(literal, Condition | Assignment):
            yield from _terms(literal.expression)


def _terms(expression: Expression) -> Iterator[Term]:
    if isinstance(expression, Call):
        for arg in expression.args:
            yield from _terms(arg)
    elif isinstance(expression, str):
        yield Term(expression)


_ANSWER = "(answer)"

Rules = Sequence[SourcedRule[SparkFacts]]


@dataclass
class _Divided:
    """The rules that the driver runs itself, with the facts they read, and the rules for a job."""

    near: list[SourcedRule[LocalFacts]] = field(default_factory=list)
    far: list[tuple[PreparedPlan, tuple[SetNode, ...]]] = field(default_factory=list)


class SparkEngine:
    """Implements `tidelog.algebra.engine.Engine` on a cluster."""

    def __init__(
        self,
        cluster: Cluster,
        dictionary: Dictionary,
        scratch: Path,
        shards: int | None = None,
        small: int = tuning.DRIVER_FACTS,
        settings: Settings | None = None,
    ) -> None:
        """`scratch` is a directory that driver and executors share; up to `small` rows stay in the driver."""
        self.local = LocalEngine(settings, dictionary)
        self.driver = Driver(cluster, self.local, Path(scratch), shards or cluster.cores, small)
        self.plan_cache = PlanCache(dictionary, small)

    @property
    def dictionary(self) -> Dictionary:
        return self.local.dictionary

    def close(self) -> None:
        """Delete all files. After this, the sets of this engine cannot be read."""
        self.driver.close()
        self.local.close()

    def fact_set(self, facts: Iterable[Fact]) -> SparkFacts:
        return self.adopt(self.local.fact_set(facts))

    def adopt(self, facts: LocalFacts) -> SparkFacts:
        """The facts of a set of the local engine, which has the same dictionary."""
        return self._facts(self.driver.hold(facts))

    def of_shard_files(self, written: Sequence[ShardFile | None]) -> SparkFacts:
        """The facts in files that others wrote, one for each shard by the first argument. The files are not deleted."""
        assert len(written) == self.driver.shards
        return self._facts(StoredSet(written, owned=False))

    def _facts(self, node: SetNode) -> SparkFacts:
        return SparkFacts(self.driver, node)

    def derive(self, rules: Rules, work: Work) -> SparkFacts:
        divided = self._divide(rules)
        heads = self.driver.hold(self.local.derive(divided.near, work))
        if not divided.far:
            return self._facts(heads)
        found = self._run(divided, work)
        return self._facts(operate(self.driver, "|", facts_of(self.driver, found, 0), heads))

    def derive_pivoted(
        self,
        rules: Sequence[Rule],
        left: SparkFacts,
        pivot: SparkFacts,
        right: SparkFacts,
        negated: SparkFacts,
        work: Work,
    ) -> SparkFacts:
        one, two, three, four = (_held(s) for s in (left, pivot, right, negated))
        if one is not None and two is not None and three is not None and four is not None:
            return self.adopt(self.local.derive_pivoted(rules, one, two, three, four, work))
        variants = [v for r in rules for v in pivoted(r, left, pivot, right, negated)]
        divided = self._divide(variants)
        heads = self.local.derive(divided.near, work)
        fresh = stale = self.driver.hold(self.local.fact_set(()))
        if divided.far:
            found = self._run(divided, work, right.node)
            fresh, stale = (facts_of(self.driver, found, 0, kind) for kind in ("fresh", "stale"))
        return self._facts(self._derived(heads, fresh, stale, right.node))

    def _derived(self, heads: LocalFacts, fresh: SetNode, stale: SetNode, right: SetNode) -> SetNode:
        """The union of the heads of the driver and of a job, with a record of which of them are not in `right`."""
        driver, beyond = self.driver, frozenset((right.id, right.resolved().id))
        fresh.disjoint_with |= beyond
        rest = heads - within(driver.reader, right, heads)
        rest_apart = driver.hold(rest - within(driver.reader, fresh, rest))
        rest_apart.disjoint_with = frozenset((fresh.id,)) | beyond
        new = operate(driver, "|", fresh, rest_apart)
        new.disjoint_with |= beyond
        derived = operate(driver, "|", operate(driver, "|", stale, new), driver.hold(heads))
        if new is not derived:
            derived.differences.update((id_, new) for id_ in beyond)
        return derived

    def tally(self, rules: Rules, work: Work) -> SparkTally:
        divided = self._divide(rules)
        near = SparkTally(self.driver, self.driver.hold_tally(self.local.tally(divided.near, work)))
        if not divided.far:
            return near
        found = self._run(divided, work, tallied=True)
        return SparkTally(self.driver, tally_of(self.driver, found)) + near

    def ones(self, facts: SparkFacts) -> SparkTally:
        node = facts.node.resolved()
        if isinstance(node, DriverSet):
            return SparkTally(self.driver, self.driver.hold_tally(self.local.ones(node.facts)))
        return SparkTally(self.driver, Ones(node))

    def supports(
        self,
        rules: Sequence[Rule],
        guards: SparkFacts,
        facts: SparkFacts,
        negated: SparkFacts,
        start: int,
        stop: int | None,
        work: Work,
    ) -> tuple[SparkFacts, SparkFacts]:
        """Only rules with one atom besides the guard use the window, each shard on its own; other rules read all facts.

        If the driver has the facts, it searches itself. A search continues where it began, because driver and shards
        order the candidates differently.
        """
        if facts.searched_here is None:
            facts.searched_here = _held(facts) is not None and _held(negated) is not None
        if facts.searched_here:
            one, two, three = (s.to_local() for s in (guards, facts, negated))
            bodies, unfinished = self.local.supports(rules, one, two, three, start, stop, work)
            return self.adopt(bodies), self.adopt(unfinished)
        simple, pickled, others = _by_atoms(tuple(rules))
        shown = others if start == 0 else ()
        divided = self._divide([guarded(r, guards, facts, negated) for r in shown if guards.may_match(r.atoms[0])])
        near = self.adopt(self.local.derive(divided.near, work))
        useful = any(guards.may_match(r.atoms[0]) and facts.may_match(r.atoms[1]) for r in simple)
        if not divided.far and not useful:
            return near, self.fact_set(())
        parts = {part_of(r.atoms[1], self.dictionary.encode) for r in simple} if useful else set()
        read = tuple(relation for relation in facts.node.resolved().stats if any(p.has(relation) for p in parts))
        window = SupportWindow(pickled, guards.node.id, facts.node.id, read, start, stop)
        found = self._run(divided, work, window=(window, simple, (guards.node, facts.node)))
        bodies_, open_ = (self._facts(facts_of(self.driver, found, number)) for number in range(2))
        return bodies_ | near, open_

    def proofs(
        self, rules: Sequence[Rule], guards: SparkFacts, facts: SparkFacts, negated: SparkFacts, work: Work
    ) -> tuple[SparkFacts, SparkFacts, SparkFacts]:
        return proofs_by_supports(self, rules, guards, facts, negated, work)

    def instances(
        self, rule: SourcedRule[SparkFacts], variables: Sequence[Variable], limit: int | None = None
    ) -> Iterator[tuple[Term, ...]]:
        asked = replace(rule.rule, heads=(Atom(_ANSWER, tuple(variables)),))
        found = self.derive([SourcedRule(asked, rule.sources)], Work())
        for number, fact in enumerate(found):
            if number == limit:
                return
            yield fact.args

    def _divide(self, rules: Rules) -> _Divided:
        """Divide the rules between driver and job. Rules with an atom that matches nothing are left out."""
        divided, left = _Divided(), tuning.DRIVER_READ_RATIO * self.driver.small
        for sourced in rules:
            rule = sourced.rule
            nodes = tuple(s.node.resolved() for s in sourced.sources)
            parts = [part_of(atom, self.dictionary.encode) for atom in atoms_of(rule)]
            read = list(zip(rule.literals, nodes, parts, strict=True))
            if any(isinstance(b, Atom) and not node.rows(part) for b, node, part in read):
                continue
            apart = sum(node.reading(part) for _, node, part in read if not isinstance(node, DriverSet))
            if apart <= min(self.driver.small, left):
                left -= apart
                divided.near.append(SourcedRule(rule, tuple(self._read(node, part) for _, node, part in read)))
            else:
                divided.far.append((self.plan_cache.prepare(rule, nodes), nodes))
        return divided

    def _read(self, node: SetNode, part: SetPart) -> LocalFacts:
        return node.facts if isinstance(node, DriverSet) else self.driver.reader.whole(node.id, part)

    def _run(
        self,
        divided: _Divided,
        work: Work,
        right: SetNode | None = None,
        tallied: bool = False,
        window: tuple[SupportWindow, Sequence[Rule], tuple[SetNode, ...]] | None = None,
    ) -> ShardResults:
        rules = [step.rule for prepared, _ in divided.far for step in prepared.plan.steps]
        rules += window[1] if window else []
        self._bring(divided, right, rules)
        constants = {t: self.dictionary.encode(t) for prepared, _ in divided.far for t in prepared.constants}
        if window is not None:
            constants |= {t: self.dictionary.encode(t) for r in window[1] for t in constants_of(r)}
        entries = tuple(PlanEntry(p.plan.number, tuple(n.id for n in nodes)) for p, nodes in divided.far)
        plans = {p.plan.number: p.pickled for p, _ in divided.far}
        roots = [node for _, nodes in divided.far for node in nodes]
        roots += [] if right is None else [right]
        roots += [] if window is None else window[2]
        found, report = self.driver.derive(
            Evaluation(plans, entries, window and window[0], tallied, None if right is None else right.id),
            roots,
            constants,
            any(p.looks_at_terms for p, _ in divided.far),
            max((len(p.plan.steps) for p, _ in divided.far), default=1),
        )
        work.derivations += report.derivations
        return found

    def _bring(self, divided: _Divided, right: SetNode | None, rules: Sequence[Rule]) -> None:
        """Repartition the sets by the arguments by which the plans read them."""
        repartitions: list[Repartition] = []
        for prepared, nodes in divided.far:
            for step in prepared.plan.steps:
                for atom, read in zip(atoms_of(step.rule), step.reads, strict=True):
                    if read.source is not None and read.key != ALL:
                        part = part_of(atom, self.dictionary.encode)._replace(value=None)
                        repartitions += self.driver.require_key(nodes[read.source], read.key, part)
        if right is not None:
            heads = {part_of(h, self.dictionary.encode)._replace(value=None) for r in rules for h in r.heads}
            repartitions += [m for part in heads for m in self.driver.require_keys(right, part)]
        self.driver.repartition(repartitions)


@lru_cache(maxsize=64)
def _by_atoms(rules: tuple[Rule, ...]) -> tuple[tuple[Rule, ...], bytes, tuple[Rule, ...]]:
    """The rules of a guard and one atom, where the window can only be at that atom; these rules pickled; and the other
    rules, rewritten so that they derive the facts that their atoms match.
    """
    simple = tuple(r for r in rules if len(r.body) == len(r.atoms) == 2)
    others = tuple(replace(r, heads=r.atoms[1:]) for r in rules if r not in simple)
    return simple, pickle.dumps([replace(r) for r in simple]), others


def _held(facts: SparkFacts) -> LocalFacts | None:
    node = facts.node.resolved()
    return node.facts if isinstance(node, DriverSet) else None
