"""What a random program exercises: the features on which the generator's quotas are counted.

Most are read off the rules; those that say something *happens* (`derives`, `negation blocks`, …) need the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.oracle.programs import RandomProgram
from tests.reference.engine import ReferenceEngine, ReferenceFacts, least_model
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import all_from
from tidelog.model.terms import TRIPLE, Fact
from tidelog.rules.syntax import Assignment, Atom, Condition, Literal, Negation, Rule, Variable


def features(program: RandomProgram) -> set[str]:
    model = least_model(program.rules, program.facts)
    written = {feature for rule in program.rules for feature in rule_features(rule)}
    return written | recursion_features(program.rules) | set(_model_features(program, model))


def rule_features(rule: Rule) -> Iterator[str]:
    if len(rule.heads) > 1:
        yield "several heads"
    if rule.cartesian:
        yield "product"
    if rule.aggregate:
        yield from ("aggregate", rule.aggregate.function)
    if any(isinstance(a, str) for head in rule.heads for a in head.args):
        yield "constant in head"
    for literal in rule.body:
        yield from _literal_features(literal, rule)


def _literal_features(literal: Literal, rule: Rule) -> Iterator[str]:
    match literal:
        case Atom():
            yield from _atom_features(literal)
        case Negation(atom):
            bound = {v for other in rule.atoms for v in other.variables()}
            own = [v for v in atom.variables() if v not in bound]
            yield "negation"
            yield from ["existential negation"] * bool(own)
            yield from ["existential variable repeated"] * (len(own) > len(set(own)))
        case Assignment():
            yield "arithmetic"
        case Condition():
            yield "comparison"


def _atom_features(atom: Atom) -> Iterator[str]:
    variables = list(atom.variables())
    if len(variables) > len(set(variables)):
        yield "repeated variable"
    if len(variables) < len(atom.args):
        yield "constant in body"
    if any(v.name.startswith("_") for v in variables):
        yield "wildcard"
    if atom.predicate == TRIPLE:
        yield from ("triple", *(["variable predicate"] * isinstance(atom.args[1], Variable)))
    if not atom.args:
        yield "no arguments"
    if len(atom.args) == 4:
        yield "four arguments"


def recursion_features(rules: tuple[Rule, ...]) -> set[str]:
    """Whether some rule uses a predicate that depends on its head: through itself, another one, or twice."""
    reaches = _reachability(rules)
    found = set()
    for rule in rules:
        for head in rule.heads:
            cyclic = [a.predicate for a in rule.atoms if (a.predicate, head.predicate) in reaches]
            found |= {"recursive"} if cyclic else set()
            found |= {"mutual recursion"} if set(cyclic) - {head.predicate} else set()
            found |= {"non-linear recursion"} if len(cyclic) > 1 else set()
            negated = {(n.atom.predicate, head.predicate) for n in rule.negations}
            found |= {"stratified by constants"} if negated & reaches or head.predicate in dict(negated) else set()
    return found


def _reachability(rules: tuple[Rule, ...]) -> set[tuple[str, str]]:
    """The pairs (p, q) such that p depends on q: some chain of rules leads from q to p."""
    pairs = {(h.predicate, a.predicate) for rule in rules for h in rule.heads for a in rule.atoms}
    while longer := {(p, r) for p, q in pairs for q2, r in pairs if q == q2} - pairs:
        pairs |= longer
    return pairs


def _model_features(program: RandomProgram, model: frozenset[Fact]) -> Iterator[str]:
    explicit = frozenset(program.facts)
    everything = ReferenceFacts(model)
    derivable = _tally(program.rules, everything)
    if model > explicit:
        yield "derives"
    if len(model) >= len(explicit) + 10:
        yield "derives ten"
    if explicit & derivable.keys():
        yield "explicit and derivable"
    if any(count > 1 for count in derivable.values()):
        yield "several derivations"
    if any(_tally([rule], everything) for rule in program.rules if rule.aggregate):
        yield "aggregate has a value"
    if least_model([_without_negation(rule) for rule in program.rules], explicit) != model:
        yield "negation blocks"
    if least_model([rule for rule in program.rules if not recursion_features((rule,))], explicit) != model:
        yield "recursion adds"
    used = {atom.predicate for rule in program.rules for atom in rule.atoms}
    if used - everything.predicates().keys():
        yield "empty relation"
    if {s.predicate for s in program.signatures} - used - {h.predicate for r in program.rules for h in r.heads}:
        yield "unused predicate"


def _tally(rules: tuple[Rule, ...] | list[Rule], facts: ReferenceFacts) -> dict[Fact, int]:
    return dict(ReferenceEngine().tally([all_from(rule, facts) for rule in rules], Work()))


def _without_negation(rule: Rule) -> Rule:
    return replace(rule, body=tuple(b for b in rule.body if not isinstance(b, Negation)))
