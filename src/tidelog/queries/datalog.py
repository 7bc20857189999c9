"""Datalog queries: a rule body, matched against the facts of one version, within limits.

A row is *asserted* if explicit facts alone match all its atoms. Negated atoms are checked against all facts. All other
rows need a derived fact.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal as OneOf

from tidelog.algebra.sourced_rule import SourcedRule, all_from, with_positive_sources
from tidelog.algorithms.equality.policy import MODES, OFF, mode_of
from tidelog.algorithms.equality.policy import answers as named_answers
from tidelog.changes.state import State
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import Location, RuleError, UsageError
from tidelog.kernel.join import Bindings
from tidelog.queries.answers import Answers
from tidelog.queries.limits import QueryBudget
from tidelog.rules.analysis.safety import check_rules
from tidelog.rules.parsing.parser import parse_query
from tidelog.rules.syntax import Atom, Literal, Negation, Rule, Variable, literal_variables
from tidelog.settings import Limits

Kind = OneOf["all", "explicit", "derived"]

_NAMED = re.compile(r"\?\w+|`[^`]+`")


def check_kind(kind: object) -> None:
    if kind not in ("all", "explicit", "derived"):
        raise UsageError(f'kind is {kind!r}; expected "all", "explicit" or "derived"')


def ask(engine: LocalEngine, state: State, text: str, kind: Kind, limits: Limits) -> Answers:
    """The answers to a query, in the order in which they were found."""
    body, variables = read_query(text, state)
    return find(engine, state, body, variables, kind, limits)


def read_query(text: str, state: State) -> tuple[Sequence[Literal], list[Variable]]:
    """The body of a query, checked, and the variables that get values."""
    body, named = parse_query(text, state.prefixes)
    _check(body, text, state)
    return body, _asked(body, named)


def find(
    engine: LocalEngine,
    state: State,
    body: Sequence[Literal],
    variables: Sequence[Variable],
    kind: Kind = "all",
    limits: Limits | None = None,
) -> Answers:
    """The distinct values of `variables` over all matches of `body`. The caller has checked the body."""
    check_kind(kind)
    limits = limits or Limits()
    budget = QueryBudget.start(engine.budget, limits)
    limited = engine if limits.timeout is None and limits.max_memory is None else engine.within(budget)
    rule = Rule((Atom("", tuple(variables)),), tuple(body), cartesian=True)
    rows = _explicit if kind == "explicit" else _all
    enough = (
        None if limits.max_rows is None or kind == "derived" else limits.max_rows + 1
    )  # one more shows that there are too many
    found = rows(limited, state, rule, enough)
    if kind == "derived":
        found = found.take(~found.among(_explicit(limited, state, rule)))
    budget.check_rows(found.length)
    return Answers(
        [v.name for v in variables],
        lambda: [found.columns[v] for v in variables] if found.length else [],
        found.length,
        engine.dictionary,
        lambda: found.among(_explicit(engine, state, rule)).tolist(),
    )


def _all(engine: LocalEngine, state: State, rule: Rule, limit: int | None) -> Bindings:
    if mode_of(state.options) is MODES[OFF]:
        return _bindings(engine, all_from(rule, state.I), limit)
    facts = named_answers(engine, rule, state.I)
    return Bindings(dict(zip(_variables(rule), facts.columns(""), strict=bool(facts))), len(facts))


def _explicit(engine: LocalEngine, state: State, rule: Rule, limit: int | None = None) -> Bindings:
    """The answers that explicit facts alone give."""
    negated = mode_of(state.options).facts(engine, state.I, state.I) if rule.negations else state.E
    return _bindings(engine, with_positive_sources(rule, [state.E] * len(rule.atoms), negated), limit)


def _bindings(engine: LocalEngine, rule: SourcedRule[LocalFacts], limit: int | None) -> Bindings:
    return engine.bindings(rule, _variables(rule.rule), limit)


def _variables(rule: Rule) -> list[Variable]:
    return list(rule.heads[0].variables())


def _asked(body: Sequence[Literal], named: Sequence[Variable]) -> list[Variable]:
    """The variables that get values: all but those that occur once, in a negated atom."""
    uses = Counter(v for literal in body for v in literal_variables(literal))
    absent = {v for b in body if isinstance(b, Negation) for v in b.atom.variables() if uses[v] == 1}
    return [v for v in named if v not in absent]


def _check(body: Sequence[Literal], text: str, state: State) -> None:
    """Raise RuleError, with the location in the query, if the body cannot be answered."""
    try:
        check_rules([Rule((), tuple(body), cartesian=True)], {**state.I.arities(), **state.arities})
    except RuleError as error:
        problem = error.message.partition("\n")[0]
        raise RuleError(problem, _place(text, problem)) from None


def _place(text: str, problem: str) -> Location:
    """The location in `text` of the first variable or name that the problem message mentions."""
    named = _NAMED.search(problem)
    word = re.escape(named[0].strip("`")) if named else ""
    found = re.search(rf"{word}\b" if word else "", text)
    at = found.start() if found else 0
    line = text.count("\n", 0, at)
    return Location("<query>", line + 1, at - text.rfind("\n", 0, at), text.splitlines()[line])
