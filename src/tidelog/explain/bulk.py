"""The rule instances of any number of facts as one table, found by the engine's joins and put into columns.

    H <- H[G], B1[I] .. Bn[I]        G the facts asked for; then, deeper, the facts of the bodies, and so on

Texts are made for each distinct term once, when the table is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidelog.algebra.engine import Work
from tidelog.algebra.extended import over, reading
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.explain.columns import Part, Shape, schema, table_of, without_same_head
from tidelog.explain.names import Named
from tidelog.explain.subject import VALUE, Way, variables_of
from tidelog.kernel.bindings import Bindings
from tidelog.rules.syntax import Atom, Rule, Variable

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from tidelog.dictionary import Dictionary

_SHOWN = 20
DEEPEST = 1_000_000


class RuleInstances:
    """A table of rule instances: `fact`, `kind` (explicit, axiom, rule, aggregate), `rule`, `name`, `body`.

    `rule` is the number of the rule, from 1, and `name` its name, if it has one; `body` are the facts that its positive
    atoms matched. An explicit fact has a row without rule and body. Each match of an aggregate's group is a row.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="hot(a) . hot(b) .", add_rules="alert(?x) :- hot(?x) .")
    >>> table = kb.explain_all("alert(?x)")
    >>> len(table), sorted(table.to_rows())[0]
    (2, ('alert(a)', 'rule', 1, None, ['hot(a)']))
    """

    def __init__(self, dictionary: Dictionary, parts: Sequence[Part] = ()) -> None:
        self._dictionary = dictionary
        self._found = parts
        self.names = tuple(schema().names)

    def _parts(self) -> Sequence[Part]:
        return self._found

    def __len__(self) -> int:
        return sum(part.length for part in self._parts())

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for batch in self.to_arrow().to_batches():
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def to_rows(self) -> list[tuple[Any, ...]]:
        """All rows as a list."""
        return list(self)

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow Table; `body` is a column of lists."""
        return table_of(self._dictionary, self._parts())

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame (needs pandas)."""
        return self.to_arrow().to_pandas()

    def to_spark(self, spark: Any) -> Any:
        """A Spark DataFrame in the given session."""
        return spark.createDataFrame(self.to_arrow())

    def __repr__(self) -> str:
        rows = self.to_arrow().slice(0, _SHOWN).to_pylist()
        lines = [
            f"{r['fact']}  {r['kind']} {r['name'] or r['rule'] or ''}  {', '.join(r['body'])}".rstrip() for r in rows
        ]
        more = [f"… {len(self):,} rows in all"] if len(self) > _SHOWN else []
        return "\n".join([*lines, *more])


@dataclass
class _Search:
    """Goes down from facts to what they rest on."""

    engine: LocalEngine
    named: Named[LocalFacts]

    @property
    def facts(self) -> LocalFacts:
        return self.named.subject.I

    def parts(self, pattern: Atom, depth: int) -> Iterator[Part]:
        goals = self.engine.derive([over(Rule((pattern,), (pattern,)), self.facts)], Work())
        seen = goals
        ways = list(self.named.subject.index.ways(pattern))
        while goals and depth:
            yield from explicit_parts(goals & self.named.subject.E)
            below = self.engine.collect(())
            for way in ways:
                yield from self._of(way, goals)
                below = below | self._bodies(way, goals) if depth > 1 else below
            goals, depth = below - seen, depth - 1
            seen = seen | goals
            ways = [w for name in goals.arities() for w in self.named.subject.index.named(name)]

    def _of(self, way: Way, goals: LocalFacts) -> Iterator[Part]:
        """The instances of one rule with one head."""
        guards = self._given(way, goals)
        if not guards.may_match(way.head):
            return
        rule = way.guarded
        found = self.engine.bindings(self._reading(rule, guards), variables_of(rule))
        earlier = way.rule.heads[: way.rule.heads.index(way.head)] if way.head in way.rule.heads else ()
        found = without_same_head(self.engine.dictionary, found, way.head, earlier)
        if found.length:
            yield Part(Shape.of(way), found)

    def _given(self, way: Way, goals: LocalFacts) -> LocalFacts:
        """The facts that a rule may derive; of an aggregate those that it does, for others may have the same group."""
        if VALUE not in way.head.args:
            return goals
        return goals & self.engine.derive([over(way.rule, self.facts)], Work())

    def _bodies(self, way: Way, goals: LocalFacts) -> LocalFacts:
        guards, rule = self._given(way, goals), way.guarded
        if not way.rule.atoms or not guards.may_match(way.head):
            return self.engine.collect(())
        turned = Rule(way.rule.atoms, rule.body, cartesian=True)
        return self.engine.derive([self._reading(turned, guards)], Work())

    def _reading(self, rule: Rule, guards: LocalFacts) -> Any:
        return reading(rule, (guards, *[self.facts] * (len(rule.atoms) - 1)), self.facts)


def instances(engine: LocalEngine, named: Named[LocalFacts], pattern: Atom, depth: int) -> RuleInstances:
    """The instances that derive the facts of a pattern, and those below, `depth` steps in all."""
    return RuleInstances(engine.dictionary, list(_Search(engine, named).parts(pattern, depth)))


def explicit_parts(facts: LocalFacts) -> Iterator[Part]:
    """Explicit facts as they are."""
    for predicate, arity in facts.arities().items():
        head = Atom(predicate, tuple(Variable(f"x{i}") for i in range(arity)))
        yield part_of(facts, head, Shape("explicit", head))


def part_of(facts: LocalFacts, atom: Atom, shape: Shape) -> Part:
    """The facts of an atom of different variables as bindings of these."""
    count = facts.predicates().get(atom.predicate, 0)
    columns = facts.columns(atom.predicate) if count else [np.zeros(0, np.int64) for _ in atom.args]
    return Part(shape, Bindings(dict(zip(atom.args, columns, strict=True)), count))
