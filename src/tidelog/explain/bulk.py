"""The rule instances of any number of facts, as one table.

`instance_facts` uses only the operations that every engine has, so the facts need not be in this process (see
`tidelog.engines.spark.dataframes.instances`). Instances are facts of generated relations; all rules of a level are one
call of the engine. G are the facts asked for, then the facts of the bodies, and so on:

    (instance k)(x1 .. xn) <- H[G], B1[I] .. Bm[I]        for each rule and head; x1 .. xn are all its variables
    B1 .. Bm <- (instance k)(x1 .. xn)                    the facts of the next level
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import SourcedRule, all_from
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.explain.columns import InstanceShape, InstanceTable, schema, table_of
from tidelog.explain.equality_view import EqualityView
from tidelog.explain.explained_version import ExplainedVersion, F, HeadRule
from tidelog.kernel.join import Bindings
from tidelog.model.terms import Term
from tidelog.queries.answers import RowTable
from tidelog.rules.syntax import Aggregate, Atom, Rule, Variable

if TYPE_CHECKING:
    import pyarrow

    from tidelog.dictionary import Dictionary

_SHOWN = 20
DEEPEST = 1_000_000


class RuleInstances(RowTable):
    """A table of rule instances: `fact`, `kind` (explicit, axiom, rule, aggregate), `rule`, `name`, `body`.

    `rule` is the number of the rule, from 1; `name` is its name or None; `body` lists the facts that its positive atoms
    matched. An explicit fact has a row without rule and body. Each match of an aggregate's group has its own row.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="hot(a) . hot(b) .", add_rules="alert(?x) :- hot(?x) .")
    >>> table = kb.explain_all("alert(?x)")
    >>> len(table), sorted(table.to_rows())[0]
    (2, ('alert(a)', 'rule', 1, None, ['hot(a)']))
    """

    def __init__(self, dictionary: Dictionary, parts: Sequence[InstanceTable] = ()) -> None:
        self._dictionary = dictionary
        self._found = parts
        self.names = tuple(schema().names)

    def _parts(self) -> Sequence[InstanceTable]:
        return self._found

    def __len__(self) -> int:
        return sum(part.length for part in self._parts())

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for batch in self.to_arrow().to_batches():
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow Table; `body` is a column of lists."""
        return table_of(self._dictionary, self._parts())

    def __repr__(self) -> str:
        rows = self.to_arrow().slice(0, _SHOWN).to_pylist()
        lines = [
            f"{r['fact']}  {r['kind']} {r['name'] or r['rule'] or ''}  {', '.join(r['body'])}".rstrip() for r in rows
        ]
        more = [f"… {len(self):,} rows in all"] if len(self) > _SHOWN else []
        return "\n".join([*lines, *more])


def instances(engine: LocalEngine, view: EqualityView[LocalFacts], pattern: Atom, depth: int) -> RuleInstances:
    """The instances that derive the facts matching `pattern`, and those below, `depth` steps in all."""
    found = instance_facts(view.explained, pattern, depth)
    return RuleInstances(engine.dictionary, list(instance_tables(found.explicit, found.matches, found.relations)))


def instance_tables(
    explicit: LocalFacts, matches: LocalFacts, relations: Iterable[InstanceRelation]
) -> Iterator[InstanceTable]:
    """Yield the explicit facts, one table for each predicate, then the facts of the generated relations."""
    for predicate, arity in explicit.arities().items():
        head = Atom(predicate, tuple(Variable(f"x{i}") for i in range(arity)))
        yield _table(explicit, head, InstanceShape("explicit", head))
    counts = matches.predicates()
    yield from (_table(matches, each.atom, each.shape) for each in relations if each.atom.predicate in counts)


def _table(facts: LocalFacts, atom: Atom, shape: InstanceShape) -> InstanceTable:
    """The facts of an atom with distinct variables, as bindings of these variables."""
    columns = zip(atom.args, facts.columns(atom.predicate), strict=True)
    return InstanceTable(shape, Bindings(dict(columns), facts.predicates()[atom.predicate]))


Arg = Variable | Term | Aggregate


class InstanceRelation(NamedTuple):
    """A relation of instances: its atom has all variables of the rule as arguments; `shape` describes its rows."""

    atom: Atom
    shape: InstanceShape


@dataclass(frozen=True)
class InstanceFacts(Generic[F]):
    """Explicit facts, and instances as facts of generated relations."""

    explicit: F
    matches: F
    relations: Sequence[InstanceRelation]


def instance_facts(explained: ExplainedVersion[F], pattern: Atom, depth: int) -> InstanceFacts[F]:
    """The instances that derive the facts matching `pattern`, and those below, `depth` steps in all."""
    search = _EngineSearch(explained)
    goals = explained.engine.derive([all_from(Rule((pattern,), (pattern,)), explained.I)], Work())
    seen, matches = goals, search.nothing
    head_rules: Iterable[HeadRule] = explained.index.head_rules(pattern)
    while goals and depth:
        found = search.matches(head_rules, goals)
        matches = matches | found
        goals, depth = search.bodies(found) - seen if depth > 1 else search.nothing, depth - 1
        seen = seen | goals
        head_rules = [head_rule for name in goals.predicates() for head_rule in explained.index.of_predicate(name)]
    return InstanceFacts(
        seen & explained.E,
        matches,
        [InstanceRelation(atom, InstanceShape.of(head_rule)) for head_rule, atom in search.atoms.items()],
    )


@dataclass
class _EngineSearch(Generic[F]):
    """Goes down one step at a time. A fact is visited once and an instance derives one fact, so none occurs twice."""

    explained: ExplainedVersion[F]
    atoms: dict[HeadRule, Atom] = field(default_factory=dict)  # the generated relation of each rule and head

    @property
    def nothing(self) -> F:
        return self.explained.engine.fact_set(())

    def matches(self, head_rules: Iterable[HeadRule], goals: F) -> F:
        """The instances that derive one of `goals`."""
        rules: list[SourcedRule[F]] = []
        doubled: list[Rule] = []
        for head_rule in head_rules:
            guards = self.explained.derivable(head_rule, goals)
            if guards.may_match(head_rule.head):
                rule = Rule((self._atom(head_rule),), head_rule.guarded.body, cartesian=True)
                rules.append(self.explained.sourced(rule, guards, self.explained.I))
                doubled += self._doubled(head_rule)
        found = self._derived(rules)
        return found - self._derived([all_from(rule, found) for rule in doubled]) if doubled else found

    def bodies(self, found: F) -> F:
        """The facts that the body atoms of these instances matched."""
        turned = ((head_rule.rule.atoms, atom) for head_rule, atom in self.atoms.items() if found.may_match(atom))
        return self._derived([all_from(Rule(atoms, (atom,), cartesian=True), found) for atoms, atom in turned if atoms])

    def _derived(self, rules: Sequence[SourcedRule[F]]) -> F:
        return self.explained.engine.derive(rules, Work())

    def _atom(self, head_rule: HeadRule) -> Atom:
        if head_rule not in self.atoms:
            self.atoms[head_rule] = Atom(f"(instance {len(self.atoms)})", head_rule.variables)
        return self.atoms[head_rule]

    def _doubled(self, head_rule: HeadRule) -> Iterator[Rule]:
        """Rules that find the instances for which an earlier head of the rule is the same fact."""
        for other in head_rule.earlier_heads:
            same = unified(head_rule.head, other)
            if same is not None:
                atom = self._atom(head_rule)
                alike = Atom(atom.predicate, tuple(_chosen(a, same) for a in atom.args))
                yield Rule((alike,), (alike,))


def unified(one: Atom, other: Atom) -> dict[Variable, Arg] | None:
    """The substitution under which the two atoms are the same fact; None if there is none."""
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
