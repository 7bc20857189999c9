"""What a user asks of a repair: which fact, what is to be kept, what weighs how much."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tidelog.errors import UsageError
from tidelog.explain.reading import read_fact
from tidelog.explain.subject import agree
from tidelog.model.facts import Fact
from tidelog.model.terms import Value, to_value
from tidelog.rules.parser import parse_query
from tidelog.rules.printer import format_fact
from tidelog.rules.syntax import Atom

Weigh = Callable[[tuple[Value, ...]], float] | Mapping[str, float] | None
Prefixes = Mapping[str, str]
Expand = Callable[[str], str]  # the full name of a relation

MAX_TRIES = 1_000


@dataclass(frozen=True)
class Request:
    """What a user asked for."""

    goal: Fact
    prefixes: Prefixes
    limit: int
    keep: Callable[[Fact], bool]
    weight: Callable[[Fact], float]
    max_tries: int


def read_request(
    fact: object, prefixes: Prefixes, limit: int, keep: object, weigh: Weigh, max_tries: int, expand: Expand
) -> Request:
    """Read and check the arguments of `KnowledgeBase.repair`."""
    if limit < 1 or max_tries < 1:
        raise UsageError("limit and max_tries are at least 1")
    return Request(
        read_fact(fact, prefixes), prefixes, limit, _keeper(keep, prefixes, expand), _weight(weigh, expand), max_tries
    )


def _keeper(keep: object, prefixes: Prefixes, expand: Expand) -> Callable[[Fact], bool]:
    """Relations by name, facts, and patterns such as `parent(ann, ?x)`."""
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


def _patterns(text: str, prefixes: Prefixes) -> Iterator[Atom]:
    for literal in parse_query(text, prefixes)[0]:
        if not isinstance(literal, Atom):
            raise UsageError(f"{text!r} is not a pattern of facts to keep, such as parent(ann, ?x)")
        yield literal


def _weight(weigh: Weigh, expand: Expand) -> Callable[[Fact], float]:
    """What a fact weighs: 1 unless something is said of it or of its relation."""
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
