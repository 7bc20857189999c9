"""The rule instances of any number of facts as one table, found by the engine's joins and put into columns.

    H <- H[G], B1[I] .. Bn[I]        G the facts asked for; then, deeper, the facts of the bodies, and so on

Texts are made for each distinct term once, when the table is looked at.

The rule instances of any number of facts as facts themselves, found by the verbs that every engine has.

    (instance k)(x1 .. xn) <- H[G], B1[I] .. Bm[I]        for each rule and head; x1 .. xn are all its variables
    B1 .. Bm <- (instance k)(x1 .. xn)                    the facts of the next level

All rules of a level are one call of the engine. So nothing has to be in this process: see
`tidelog.engines.spark.dataframes.instances`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from tidelog.algebra.engine import Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import Extended, over, reading
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.explain.columns import Part, Shape, schema, table_of, without_same_head
from tidelog.explain.equality_view import Named
from tidelog.explain.explained_version import VALUE, Subject, Way, variables_of
from tidelog.kernel.join import Bindings
from tidelog.model.terms import Term
from tidelog.rules.syntax import Aggregate, Atom, Rule, Variable

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


F = TypeVar("F", bound=FactSet)

Arg = Variable | Term | Aggregate


class Kept(NamedTuple):
    """What a relation of instances holds: the variables it has as arguments, and what its rows look like."""

    atom: Atom
    shape: Shape


@dataclass(frozen=True)
class Joined(Generic[F]):
    """Explicit facts, and instances in relations of their own."""

    explicit: F
    matches: F
    relations: Sequence[Kept]


def joined(subject: Subject[F], pattern: Atom, depth: int) -> Joined[F]:
    """The instances that derive the facts of a pattern, and those below, `depth` steps in all."""
    search = _JoinedSearch(subject)
    goals = subject.engine.derive([over(Rule((pattern,), (pattern,)), subject.I)], Work())
    seen, matches = goals, search.nothing
    ways: Iterable[Way] = subject.index.ways(pattern)
    while goals and depth:
        found = search.matches(ways, goals)
        matches = matches | found
        goals, depth = search.bodies(found) - seen if depth > 1 else search.nothing, depth - 1
        seen = seen | goals
        ways = [way for name in goals.predicates() for way in subject.index.named(name)]
    return Joined(seen & subject.E, matches, [Kept(atom, Shape.of(way)) for way, atom in search.atoms.items()])


@dataclass
class _JoinedSearch(Generic[F]):
    """One step down at a time. An instance derives one fact, and a fact is looked at once: so none comes twice."""

    subject: Subject[F]
    atoms: dict[Way, Atom] = field(default_factory=dict)  # the relation of each rule and head

    @property
    def nothing(self) -> F:
        return self.subject.engine.collect(())

    def matches(self, ways: Iterable[Way], goals: F) -> F:
        """The instances that derive some facts."""
        rules: list[Extended[F]] = []
        doubled: list[Rule] = []
        for way in ways:
            guards = self._given(way, goals)
            if guards.may_match(way.head):
                rule = Rule((self._atom(way),), way.guarded.body, cartesian=True)
                rules.append(self.subject.reading(rule, guards, self.subject.I))
                doubled += self._doubled(way)
        found = self._derived(rules)
        return found - self._derived([over(rule, found) for rule in doubled]) if doubled else found

    def bodies(self, found: F) -> F:
        """The facts that the atoms of instances matched."""
        turned = ((way.rule.atoms, atom) for way, atom in self.atoms.items() if found.may_match(atom))
        return self._derived([over(Rule(atoms, (atom,), cartesian=True), found) for atoms, atom in turned if atoms])

    def _derived(self, rules: Sequence[Extended[F]]) -> F:
        return self.subject.engine.derive(rules, Work())

    def _atom(self, way: Way) -> Atom:
        if way not in self.atoms:
            self.atoms[way] = Atom(f"(instance {len(self.atoms)})", way.variables)
        return self.atoms[way]

    def _given(self, way: Way, goals: F) -> F:
        """The facts that a rule may derive; of an aggregate those that it does, for others may have the same group."""
        if VALUE not in way.head.args:
            return goals
        return goals & self._derived([over(way.rule, self.subject.I)])

    def _doubled(self, way: Way) -> Iterator[Rule]:
        """Finds the instances for which an earlier head of the rule is the same fact."""
        heads = way.rule.heads
        for other in heads[: heads.index(way.head)] if way.head in heads else ():
            same = unified(way.head, other)
            if same is not None:
                atom = self._atom(way)
                alike = Atom(atom.predicate, tuple(_chosen(a, same) for a in atom.args))
                yield Rule((alike,), (alike,))


def unified(one: Atom, other: Atom) -> dict[Variable, Arg] | None:
    """What variables have to be for two atoms to be the same fact; None if they cannot be."""
    if one.predicate != other.predicate or len(one.args) != len(other.args):
        return None
    same: dict[Variable, Arg] = {}
    for pair in zip(one.args, other.args, strict=True):
        left, right = (_chosen(a, same) for a in pair)
        if left == right:
            continue
        if not isinstance(left, Variable):
            left, right = right, left
        if not isinstance(left, Variable):
            return None
        same[left] = right
    return same


def _chosen(arg: Arg, same: Mapping[Variable, Arg]) -> Arg:
    while isinstance(arg, Variable) and arg in same:
        arg = same[arg]
    return arg
