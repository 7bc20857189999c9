"""Continuous SPARQL queries.

FILTER, BIND, UNION, VALUES and SELECT treat each solution of a basic graph pattern by itself. So for a query of these
the change of its basic graph patterns is enough. These are rules (`datalog_watch`); the rest of the query is evaluated
over the solutions that come, and over those that go. DISTINCT also looks whether other solutions give the same row.

A query with anything else (OPTIONAL, MINUS, EXISTS, paths, aggregates, LIMIT) is asked again after each change of the
triples, and the answers are compared. `method` says which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tidelog.algorithms.equality.policy import MODES, OFF
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import UsageError
from tidelog.formats.rdflib_terms import term_of
from tidelog.model.terms import TRIPLE, Term, is_blank
from tidelog.queries.answers import term_rows
from tidelog.queries.sparql.evaluate.expressions import is_volatile
from tidelog.queries.sparql.execute import Dataset, evaluate, select
from tidelog.queries.sparql.prepared import Prepared, prepare_text
from tidelog.queries.sparql.solutions import Solutions, solutions_of
from tidelog.queries.sparql.syntax import algebra
from tidelog.queries.sparql.syntax.algebra import Pattern, Query
from tidelog.rules.syntax import Atom, Rule, Variable
from tidelog.streams.datalog_watch import answer_rule, touched_answers
from tidelog.streams.versions import VersionStep

Row = tuple[bytes | None, ...]

_PARTS = {
    algebra.LeftJoin: "OPTIONAL",
    algebra.Minus: "MINUS",
    algebra.Exists: "EXISTS",
    algebra.PathPattern: "a property path",
    algebra.Group: "an aggregate",
    algebra.Slice: "LIMIT or OFFSET",
    algebra.GraphPattern: "GRAPH",
    algebra.Distinct: "DISTINCT in a subquery",
    algebra.Order: "ORDER BY in a subquery",
    algebra.Join: "a join of groups",
}


def sparql_watch(text: str, prefixes: Mapping[str, str], *, has_equality: bool) -> FromTheChange | AskedAgain:
    """The continuous query for a SPARQL text. `has_equality`: triples are stored about representatives."""
    query, _ = prepare_text(text, prefixes)
    _refuse_unwatchable(query)
    if has_equality:
        return AskedAgain(query, _names(query), 'asked again and compared (equality="rewriting")')
    if not isinstance(query, algebra.Select):
        form = type(query).__name__.upper()
        return AskedAgain(query, _names(query), f"asked again and compared ({form})")
    pattern = query.pattern
    is_distinct = isinstance(pattern, algebra.Distinct)
    while isinstance(pattern, algebra.Distinct | algebra.Order):
        pattern = pattern.pattern
    if isinstance(pattern, algebra.Project) and isinstance(pattern.pattern, algebra.Order):
        pattern = replace(pattern, pattern=pattern.pattern.pattern)
    if obstacle := _obstacle(pattern):
        return AskedAgain(query, _names(query), f"asked again and compared ({obstacle})")
    return FromTheChange(pattern, query.variables, is_distinct, _names(query))


@dataclass(frozen=True)
class FromTheChange:
    """A SELECT that treats each solution of its basic graph patterns by itself."""

    pattern: Pattern
    variables: tuple[Variable, ...]
    is_distinct: bool
    names: tuple[str, ...]
    method: str = "from the change"

    def difference(self, engine: LocalEngine, step: VersionStep) -> tuple[Solutions, Solutions]:
        """The rows that a version gained and lost. Without DISTINCT a row may come and go several times."""
        differences = {
            id(leaf): touched_answers(engine, _rule_of(leaf), step)
            for leaf in _parts_of(self.pattern, algebra.BasicPattern)
        }
        came, went = (
            self._rows(engine, step.after, _with_leaves(self.pattern, {k: d[i] for k, d in differences.items()}))
            for i in (0, 1)
        )
        if self.is_distinct:
            touched = came.keys() | went.keys()
            came, went = (self._held(engine, facts, touched) for facts in (step.after, step.before))
        return _solutions(engine, self.names, came - went), _solutions(engine, self.names, went - came)

    def _rows(self, engine: LocalEngine, facts: LocalFacts, pattern: Pattern) -> Counter[Row]:
        return Counter(term_rows(select(Dataset(engine, facts, {}), Prepared(pattern, self.variables), self.variables)))

    def _held(self, engine: LocalEngine, facts: LocalFacts, rows: Iterable[Row]) -> Counter[Row]:
        """Those of the rows that the query has over the facts, each once."""
        listed, certain = list(rows), algebra.certain(self.pattern)
        if not listed:
            return Counter()
        places = [i for i, v in enumerate(self.variables) if v in certain]  # an unbound variable joins with any value
        keys = dict.fromkeys(tuple(_term(row[i]) for i in places) for row in listed)
        values = algebra.Values(tuple(self.variables[i] for i in places), tuple(keys))
        found = self._rows(engine, facts, algebra.Join(values, self.pattern))
        return Counter(row for row in listed if found[row])


@dataclass
class AskedAgain:
    """A query that is asked again after each change of the triples."""

    query: Query
    names: tuple[str, ...]
    method: str
    _last: tuple[LocalFacts, Counter[Row]] | None = field(default=None, init=False)

    def difference(self, engine: LocalEngine, step: VersionStep) -> tuple[Solutions, Solutions]:
        """The rows that a version gained and lost."""
        last = self._last
        before = last[1] if last and last[0] is step.before else self._answers(engine, step, step.before)
        changed = step.mode is not MODES[OFF] or any(f.of_predicate(TRIPLE) for f in (step.plus, step.minus))
        after = self._answers(engine, step, step.after) if changed else before
        self._last = step.after, after
        return _solutions(engine, self.names, after - before), _solutions(engine, self.names, before - after)

    def _answers(self, engine: LocalEngine, step: VersionStep, facts: LocalFacts) -> Counter[Row]:
        visible = step.mode.facts(engine, facts, facts.of_predicate(TRIPLE))
        dataset = Dataset(engine, visible, {})
        found = evaluate(dataset, self.query)
        if isinstance(found, Solutions):
            return Counter(term_rows(found))
        if isinstance(found, bool):
            return Counter({(): 1} if found else {})
        return Counter(tuple(term_of(node).encode() for node in triple) for triple in found)


def _refuse_unwatchable(query: Query) -> None:
    if isinstance(query, algebra.Describe):
        raise UsageError("DESCRIBE cannot be watched; watch a SELECT, ASK or CONSTRUCT query")
    if isinstance(query, algebra.Construct) and any(
        is_blank(n) for t in query.template for n in (t.subject, t.predicate, t.object) if isinstance(n, str)
    ):
        raise UsageError("CONSTRUCT with blank nodes makes new ones for each answer, so it cannot be watched")
    if any(is_volatile(call) for call in _parts_of(query, algebra.FunctionCall)) or any(
        call.function == "NOW" for call in _parts_of(query, algebra.FunctionCall)
    ):
        raise UsageError("NOW, RAND, UUID, STRUUID and BNODE give a new value each time, so they cannot be watched")


def _names(query: Query) -> tuple[str, ...]:
    if isinstance(query, algebra.Select):
        return tuple(v.name for v in query.variables)
    return ("subject", "predicate", "object") if isinstance(query, algebra.Construct) else ()


def _obstacle(pattern: Pattern) -> str | None:
    """The first part of a pattern that does not treat each solution by itself."""
    match pattern:
        case algebra.BasicPattern() | algebra.Values():
            return None
        case algebra.Project(inner):
            return _obstacle(inner)
        case algebra.Filter(inner, expression) | algebra.Extend(inner, _, expression):
            if next(_parts_of(expression, algebra.Exists), None) is not None:
                return _PARTS[algebra.Exists]
            return _obstacle(inner)
        case algebra.Union(left, right):
            return _obstacle(left) or _obstacle(right)
        case algebra.Join(left, right) if isinstance(left, algebra.Values) or isinstance(right, algebra.Values):
            return _obstacle(left) or _obstacle(right)
        case _:
            return _PARTS[type(pattern)]


def _parts_of(part: object, kind: type[Any]) -> Iterator[Any]:
    """All parts of a query that are of a kind."""
    if isinstance(part, kind):
        yield part
    if isinstance(part, tuple | frozenset):
        for each in part:
            yield from _parts_of(each, kind)
    elif isinstance(part, algebra.Record):
        for each in fields(part):  # type: ignore[arg-type]
            yield from _parts_of(getattr(part, each.name), kind)


def _rule_of(leaf: algebra.BasicPattern) -> Rule:
    """The rule that derives the solutions of a basic graph pattern."""
    atoms = [Atom(TRIPLE, (t.subject, t.predicate, t.object)) for t in leaf.triples]
    return answer_rule(dict.fromkeys(v for atom in atoms for v in atom.variables()), atoms)


def _with_leaves(pattern: Pattern, solutions: Mapping[int, LocalFacts]) -> Pattern:
    """The pattern with a table of solutions in place of each basic graph pattern."""
    match pattern:
        case algebra.BasicPattern():
            variables = tuple(dict.fromkeys(v for t in pattern.triples for v in t.variables()))
            return algebra.Values(variables, tuple(fact.args for fact in solutions[id(pattern)]))
        case algebra.Union(left, right):
            return algebra.Union(_with_leaves(left, solutions), _with_leaves(right, solutions))
        case algebra.Join(left, right):
            return algebra.Join(_with_leaves(left, solutions), _with_leaves(right, solutions))
        case algebra.Project() | algebra.Filter() | algebra.Extend():
            return replace(pattern, pattern=_with_leaves(pattern.pattern, solutions))
        case _:
            return pattern


def _solutions(engine: LocalEngine, names: tuple[str, ...], rows: Counter[Row]) -> Solutions:
    return solutions_of(names, [tuple(map(_term, row)) for row in rows.elements()], engine.dictionary)


def _term(text: bytes | None) -> Term | None:
    return None if text is None else Term(text.decode())
