"""The user's view of repairs: the request, and the sets of explicit facts, lightest first, each with its effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import overload

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.sourced_rule import all_from
from tidelog.algorithms.update import RuleChange
from tidelog.changes.constraints import Inconsistency
from tidelog.changes.result import Change
from tidelog.errors import ConstraintError, UsageError
from tidelog.explain.explained_version import ExplainedVersion, F, NumberedRule, agree
from tidelog.explain.proof import read_fact
from tidelog.explain.render import PrefixMap
from tidelog.explain.repair.search import RepairSearch
from tidelog.explain.repair.support import RemainingProof
from tidelog.model.terms import Fact, Value, to_value
from tidelog.rules.parsing.parser import parse_query
from tidelog.rules.printer import format_atom, format_fact
from tidelog.rules.syntax import Atom, Rule

Weigh = Callable[[tuple[Value, ...]], float] | Mapping[str, float] | None
Expand = Callable[[str], str]  # returns the full name of a relation

MAX_TRIES = 1_000
_GOAL = Fact("(inconsistency)", ())


@dataclass(frozen=True)
class RepairRequest:
    """The checked arguments of `KnowledgeBase.repair`."""

    goal: Fact
    prefixes: PrefixMap
    limit: int
    keep: Callable[[Fact], bool]
    weight: Callable[[Fact], float]
    max_tries: int
    inconsistency: Inconsistency | None = None  # what shall disappear instead of an explicit or derived fact

    @property
    def text(self) -> str:
        """The fact or the inconsistency, as text."""
        if self.inconsistency is not None:
            return str(self.inconsistency).removesuffix(" .")
        return format_fact(self.goal, self.prefixes).removesuffix(" .")


def read_repair_request(
    fact: object, prefixes: PrefixMap, limit: int, keep: object, weigh: Weigh, max_tries: int, expand: Expand
) -> RepairRequest:
    """Read and check the arguments of `KnowledgeBase.repair`."""
    if limit < 1 or max_tries < 1:
        raise UsageError("limit and max_tries are at least 1")
    found = fact if isinstance(fact, Inconsistency) else None
    goal = _GOAL if found is not None else read_fact(fact, prefixes)
    kept, weight = _keeper(keep, prefixes, expand), _weight(weigh, expand)
    return RepairRequest(goal, prefixes, limit, kept, weight, max_tries, found)


def _keeper(keep: object, prefixes: PrefixMap, expand: Expand) -> Callable[[Fact], bool]:
    """A test for facts to keep. `keep` lists names of relations, facts, and patterns such as `parent(ann, ?x)`."""
    names: set[str] = set()
    patterns: list[Atom] = []
    for each in _listed(keep):
        if isinstance(each, Fact):
            patterns.append(Atom(*each))
        elif isinstance(each, str) and any(c in each for c in "(["):
            patterns += _patterns(each, prefixes)
        elif isinstance(each, str):
            names.add(expand(each))
        else:
            raise UsageError(f"keep takes names of relations, facts and patterns, not {type(each).__name__}")
    return lambda fact: fact.predicate in names or any(agree(atom, fact) for atom in patterns)


def _listed(keep: object) -> Iterable[object]:
    if keep is None:
        return ()
    return (keep,) if isinstance(keep, str | Fact) or not isinstance(keep, Iterable) else keep


def _patterns(text: str, prefixes: PrefixMap) -> Iterator[Atom]:
    for literal in parse_query(text, prefixes)[0]:
        if not isinstance(literal, Atom):
            raise UsageError(f"{text!r} is not a pattern of facts to keep, such as parent(ann, ?x)")
        yield literal


def _weight(weigh: Weigh, expand: Expand) -> Callable[[Fact], float]:
    """A function that returns the weight of a fact. The default weight is 1."""
    if weigh is None:
        return lambda fact: 1
    if isinstance(weigh, Mapping):
        weights = {expand(name): weight for name, weight in weigh.items()}
        return lambda fact: _checked(weights.get(fact.predicate, 1), fact)
    return lambda fact: _checked(weigh((fact.predicate, *map(to_value, fact.args))), fact)


def _checked(weight: float, fact: Fact) -> float:
    if not weight > 0:
        raise UsageError(f"the weight of {format_fact(fact)} is {weight}; expected a number above 0")
    return weight


_SHOWN = 5  # atoms named in a reason


@dataclass(frozen=True)
class Repair:
    """Explicit facts whose removal makes a fact disappear. The set is minimal.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="p(a) . q(a) .", add_rules="r(?x) :- p(?x), q(?x) . s(?x) :- q(?x) .")
    >>> first, second = kb.repair("r(a)")
    >>> print(second)
    remove q(a) . and lose r(a) . s(a) .
    >>> kb.apply(remove=second.facts).version
    2
    """

    facts: tuple[Fact, ...]
    weight: float
    effect: Change  # the preview of the removal
    prefixes: PrefixMap = field(repr=False, default_factory=dict)

    @property
    def rows(self) -> list[tuple[Value, ...]]:
        """The facts as rows `(predicate, argument, …)`."""
        return [(fact.predicate, *map(to_value, fact.args)) for fact in self.facts]

    def texts(self, prefixes: PrefixMap | None = None) -> list[str]:
        """The facts as text."""
        return [format_fact(fact, self.prefixes if prefixes is None else prefixes) for fact in self.facts]

    def __str__(self) -> str:
        others = sorted(set(self.effect.removed.texts(self.prefixes)) - set(self.texts()))
        more = f" … {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
        went = f" and lose {' '.join(others[:_SHOWN])}{more}" if others else ""
        came = f" and gain {len(self.effect.added):,} facts" if len(self.effect.added) else ""
        return f"remove {' '.join(self.texts())}{went}{came}"


@dataclass(frozen=True)
class Repairs(Sequence[Repair]):
    """Repairs of one fact, lightest first. `complete`: there are no others. `reason`: why there is none.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add_rules="p(a) :- .")
    >>> kb.repair("p(a)").reason
    'p(a) follows from rules without a body alone; no removal of facts undoes that'
    """

    fact: Fact
    found: tuple[Repair, ...]
    complete: bool
    reason: str = ""

    @overload
    def __getitem__(self, index: int) -> Repair: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Repair, ...]: ...

    def __getitem__(self, index: int | slice) -> Repair | tuple[Repair, ...]:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    def __str__(self) -> str:
        more = [] if self.complete or not self.found else ["there may be more"]
        return "\n".join([*map(str, self.found), *more]) or self.reason


def repairs(
    engine: Engine[F],
    E: F,
    I: F,
    program: RuleChange,
    request: RepairRequest,
    preview: Callable[[Sequence[Fact]], Change],
) -> Repairs:
    """The lightest sets of explicit facts whose removal makes the fact disappear, each checked by `preview`.

    An inconsistency disappears with a generated fact, which one generated rule derives from it.
    """
    if request.inconsistency is not None:
        rule = Rule((Atom(_GOAL.predicate, ()),), request.inconsistency.body, cartesian=True)
        program = RuleChange((*program.before, rule), (*program.after, rule))
        I = I | engine.derive([all_from(rule, I)], Work())
    rules = tuple(NumberedRule(n, r) for n, r in enumerate(program.after, 1) if r.heads)
    explained = ExplainedVersion(engine, E, I, rules, request.prefixes)
    goal = request.text
    if not explained.holds(request.goal):
        return Repairs(request.goal, (), True, f"{goal} does not hold, so there is nothing to repair")
    search = RepairSearch(explained, program, request.goal, request.keep, request.weight, request.max_tries)
    refused: list[str] = []
    found = tuple(islice(_accepted(search, request, preview, refused), request.limit))
    search.check()
    reason = "" if found else _reason(goal, search.unbreakable, refused, request.prefixes)
    return Repairs(request.goal, found, search.ended, reason)


def _accepted(
    search: RepairSearch[F], request: RepairRequest, preview: Callable[[Sequence[Fact]], Change], refused: list[str]
) -> Iterator[Repair]:
    """Yield the repairs that no constraint forbids; append the messages of the others to `refused`."""
    for facts in search.sets():
        ordered = tuple(sorted(facts))
        try:
            effect = preview(ordered)
        except ConstraintError as error:
            refused.append(str(error))
        else:
            yield Repair(ordered, sum(map(request.weight, ordered)), effect, request.prefixes)


def _reason(goal: str, unbreakable: RemainingProof | None, refused: list[str], prefixes: PrefixMap) -> str:
    if refused:
        return f"{len(refused)} sets of facts would do, but removing them is refused: {refused[0]}"
    kept = " ".join(format_fact(f, prefixes) for f in sorted(unbreakable.kept)[:_SHOWN]) if unbreakable else ""
    absent = _absent(unbreakable, prefixes) if unbreakable else ""
    if kept:
        return f"{goal} follows from facts that are to be kept: {kept}" + (absent and f" It also {absent}")
    if absent:
        return f"no removal of facts undoes {goal}: it {absent}"
    return f"{goal} follows from rules without a body alone; no removal of facts undoes that"


def _absent(unbreakable: RemainingProof, prefixes: PrefixMap) -> str:
    atoms = list(dict.fromkeys(a for step in unbreakable.nonmonotone for a in step.absent))[:_SHOWN]
    named = ", ".join(format_atom(a, prefixes) for a in atoms)
    return named and f"rests on the absence of {named}, which would have to be added"
