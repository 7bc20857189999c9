"""A Datalog query as a rule whose heads are its answers: the answers that a change adds and removes.

    N = the new and the lost facts of the change
    K = the heads of the matches with an atom in N, before or after the change        (the touched answers)
    added = K[after] - K[before]        removed = K[before] - K[after]

So the cost depends on what the change touches, and not on the number of answers. This is how aggregates maintain their
groups, and the same code does it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tidelog.algorithms.aggregates import Groups
from tidelog.algorithms.equality.policy import MODES, OFF
from tidelog.algorithms.equality.policy import answers as named_answers
from tidelog.algorithms.equality.representatives import SAME, Representatives
from tidelog.algorithms.equality.rewriting import constants, query_versions, with_constants
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import RuleError
from tidelog.queries.answers import Answers
from tidelog.rules.syntax import Atom, Literal, Rule, Variable
from tidelog.streams.versions import VersionStep

_ANSWER = "(answer)"  # not a name that a program can have


@dataclass(frozen=True)
class DatalogWatch:
    """A continuous Datalog query. The body of `rule` is the query."""

    rule: Rule
    names: tuple[str, ...]
    method: str = "from the change"

    def difference(self, engine: LocalEngine, step: VersionStep) -> tuple[Answers, Answers]:
        """The answers that a version gained and lost."""
        self._check_arities(step.plus)
        added, removed = self._facts(engine, step)
        return self._answers(added), self._answers(removed)

    def _facts(self, engine: LocalEngine, step: VersionStep) -> tuple[LocalFacts, LocalFacts]:
        if step.mode is MODES[OFF]:
            return touched_answers(engine, self.rule, step)
        versions, places = query_versions(self.rule)
        if len(versions) > 1 or step.plus.of_predicate(SAME) or step.minus.of_predicate(SAME):
            before, after = (named_answers(engine, self.rule, facts) for facts in (step.before, step.after))
            return after - before, before - after
        representatives = Representatives(engine, step.after.of_predicate(SAME))
        rule = with_constants(versions[0], representatives.of(constants(versions)))
        added, removed = touched_answers(engine, rule, step)
        return representatives.expand(added, places), representatives.expand(removed, places)

    def _answers(self, facts: LocalFacts) -> Answers:
        (head,) = self.rule.heads
        return Answers(self.names, lambda: facts.columns(head.predicate), len(facts), facts.dictionary)

    def _check_arities(self, facts: LocalFacts) -> None:
        """A relation that was unknown when the watch began may have got another number of arguments."""
        arities = facts.arities()
        for literal in self.rule.literals:
            atom = literal if isinstance(literal, Atom) else literal.atom
            arity = arities.get(atom.predicate, len(atom.args))
            if arity != len(atom.args):
                raise RuleError(f"{atom.predicate} has {arity} arguments, and the query gives it {len(atom.args)}")


def answer_rule(variables: Iterable[Variable], body: Iterable[Literal]) -> Rule:
    """The rule that derives a query's answers."""
    return Rule((Atom(_ANSWER, tuple(variables)),), tuple(body), cartesian=True)


def touched_answers(engine: LocalEngine, rule: Rule, step: VersionStep) -> tuple[LocalFacts, LocalFacts]:
    """The heads of a rule that are derived after a version and not before it, and the other way round."""
    if not all(step.before.may_match(atom) or step.after.may_match(atom) for atom in rule.atoms):
        return engine.fact_set(()), engine.fact_set(())
    groups = Groups(engine, (rule,), step.before, step.after, step.minus, step.plus)
    return groups.gained, groups.lost
