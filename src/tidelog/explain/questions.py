"""The functions behind `explain`, `why_not`, `why_removed`, `why_kept` and `explain_all`."""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.changes.state import State, state_at
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import UsageError
from tidelog.explain.bulk import DEEPEST, RuleInstances, instances
from tidelog.explain.equality_view import EqualityView, equality_view
from tidelog.explain.proof import Proof, read_fact, read_pattern, without_helpers
from tidelog.explain.proof_search import MOST, all_proofs, shortest
from tidelog.explain.render import Explanation, fact_text
from tidelog.explain.why_not import WhyNot, failures
from tidelog.explain.why_results import Causes, ComparedVersion, LostSupport, WhyKept, WhyRemoved
from tidelog.model.terms import RULESET, Fact
from tidelog.rules.syntax import Atom, Variable
from tidelog.store.store import Store


def view_of(engine: LocalEngine, state: State) -> EqualityView[LocalFacts]:
    """The view of one version."""
    rules, kept = state.program.after, state.algorithm_state
    return equality_view(engine, state.E, state.I, rules, state.prefixes, state.options, kept)


def explain(
    engine: LocalEngine,
    state: State,
    fact: object,
    all_proofs: int | None = None,
    most: int = MOST,
    helpers: bool = False,
) -> Explanation:
    """A lowest proof of a fact; with `all_proofs`, at most that many proofs. `helpers`: also facts of helpers."""
    if all_proofs is not None and all_proofs < 1:
        raise UsageError(f"all_proofs is {all_proofs}; give the largest number of proofs, such as 10")
    asked, explained = read_fact(fact, state.prefixes), view_of(engine, state)
    if not explained.holds(asked):
        text = fact_text(asked, state.prefixes)
        raise UsageError(f"{text} does not hold, so it has no proof; why_not says what is missing")
    found = proofs(explained, asked, all_proofs, most)
    return Explanation(found if helpers else tuple(map(without_helpers, found)), _prefixes(state))


def _prefixes(state: State) -> Mapping[str, str]:
    """The prefixes of the knowledge base, and one for the helper relations in the rules of rule sets."""
    return {"use": RULESET, **state.prefixes}


def proofs(view: EqualityView[LocalFacts], fact: Fact, limit: int | None = None, most: int = MOST) -> tuple[Proof, ...]:
    """Proofs of a fact that holds: a lowest one, or at most `limit`."""
    stored = view.stored(fact)
    roots = [shortest(view.explained, stored, most)] if limit is None else all_proofs(view.explained, stored, limit)
    return tuple(Proof(view.shown(fact, root)) for root in roots)


def why_not(engine: LocalEngine, state: State, fact: object, limit: int | None) -> WhyNot:
    """How far each rule gets towards a fact that does not hold; `limit` rules are shown."""
    if limit is not None and limit < 1:
        raise UsageError(f"limit is {limit}; give the largest number of rules to show, such as 10")
    asked, version = read_fact(fact, state.prefixes), view_of(engine, state)
    explained, stored = version.explained, version.stored(asked)
    if explained.holds(stored):
        return WhyNot(asked, True, True, (), (), _prefixes(state))
    found = tuple(failures(explained, stored))
    rules = {
        head_rule.numbered.number: head_rule.numbered for head_rule in explained.index.of_predicate(stored.predicate)
    }
    others = tuple(n for number, n in rules.items() if number not in {f.numbered.number for f in found})
    known = bool(rules) or stored.predicate in explained.I.arities()
    return WhyNot(asked, False, known, found, others, _prefixes(state), limit)


def why_removed(store: Store, engine: LocalEngine, state: State, fact: object, version: int | None) -> WhyRemoved:
    """The proof that a fact had before a version (default: the newest), and which parts of it are gone."""
    asked, number = read_fact(fact, state.prefixes), state.version if version is None else version
    causes = _causes(store, engine, state, asked, number)
    if causes.new.view.holds(asked):
        raise UsageError(f"{fact_text(asked, state.prefixes)} still holds in version {number}; why_kept says why")
    (proof,) = proofs(causes.old.view, asked)
    broken = causes.causes(proof)
    lost = tuple(dict.fromkeys(node.fact for node in broken if node.kind == "explicit"))
    used = dict.fromkeys(causes.old.rules[n.numbered.number - 1] for n in proof.nodes if n.numbered)
    gone = tuple(rule for rule in used if rule.key not in causes.new.keys)
    return WhyRemoved(
        asked, number, Explanation((without_helpers(causes.marked(proof)),), _prefixes(state)), lost, gone
    )


def why_kept(store: Store, engine: LocalEngine, state: State, fact: object, version: int | None) -> WhyKept:
    """The proof that a fact has in a version (default: the newest), and the steps that the version removed."""
    asked, number = read_fact(fact, state.prefixes), state.version if version is None else version
    causes = _causes(store, engine, state, asked, number)
    if not causes.new.view.holds(asked):
        raise UsageError(f"{fact_text(asked, state.prefixes)} was removed by version {number}; why_removed says why")
    supports = (LostSupport(n, tuple(causes.missing(n)), causes.of(n)) for n in causes.lost_supports(asked))
    shown = tuple(map(without_helpers, proofs(causes.new.view, asked)))
    return WhyKept(asked, number, Explanation(shown, _prefixes(state)), tuple(supports))


def _causes(store: Store, engine: LocalEngine, state: State, fact: Fact, version: int) -> Causes[LocalFacts]:
    """Compare a version with the one before, in which the fact must hold."""
    if not 1 <= version <= state.version:
        raise UsageError(f"there is no version {version}; versions 1 to {state.version} can be asked about")
    old, new = (state_at(store, state, v) if v < state.version else state for v in (version - 1, version))
    causes = Causes(
        ComparedVersion(view_of(engine, old), old.program.after),
        ComparedVersion(view_of(engine, new), new.program.after),
    )
    if not causes.old.view.holds(fact):
        raise UsageError(f"{fact_text(fact, state.prefixes)} did not hold before version {version} either")
    return causes


def explain_all(engine: LocalEngine, state: State, pattern: str, depth: int = 1, deep: bool = False) -> RuleInstances:
    """A table of the rule instances for all facts that match a pattern."""
    return instances(engine, *asked(engine, state, pattern, depth, deep))


def asked(
    engine: LocalEngine, state: State, pattern: str, depth: int, deep: bool
) -> tuple[EqualityView[LocalFacts], Atom, int]:
    """The view of a version, the pattern with representatives, and the number of steps down."""
    if depth < 1:
        raise UsageError(f"depth is {depth}; expected 1 or more steps")
    version = view_of(engine, state)
    atom = read_pattern(pattern, state.prefixes)
    constants = [a for a in atom.args if not isinstance(a, Variable)]
    standing = iter(version.stored(Fact("", tuple(constants))).args)  # type: ignore[arg-type]
    stored = Atom(atom.predicate, tuple(a if isinstance(a, Variable) else next(standing) for a in atom.args))
    return version, stored, DEEPEST if deep else depth
