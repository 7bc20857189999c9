"""What each update removes, and adds again, on data that hold it.

DynamiTE's own files are not used: names and addresses of new people stand for its triples. In the ontology a name
entails nothing, an address entails that its owner is a person, and the head of a department works for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

from tidelog.generate.lubm import UB
from tidelog.model.terms import RDFS, TRIPLE, Fact, Term, iri, string

NAMES, ADDRESSES = 16_000, 8_000
SUB_PROPERTY = iri(f"{RDFS}subPropertyOf")


@dataclass(frozen=True)
class Update:
    """Facts that go and come. `new` facts are not in the data: those are added first, and then removed again."""

    number: str  # in the paper
    title: str
    facts: tuple[Fact, ...]
    new: bool = False


def updates(data: Path, universities: int, names: int = NAMES, addresses: int = ADDRESSES) -> list[Update]:
    """The six updates, the fourth one in the two forms that the paper has for removing and for adding."""
    last, last_two = (last_universities(data, universities, count) for count in (1, 2))
    return [
        Update("1", "one triple, no reasoning", (_stated("one", "name", string("one")),)),
        Update("2", "triples, no reasoning", _of_new_people("n", "name", names)),
        Update("3", "e-mail addresses", _of_new_people("a", "emailAddress", addresses)),
        Update("4", "headOf is a subproperty of worksFor", (_below("headOf", "worksFor"),)),
        Update(
            "4", "two new superproperties of headOf",
            (_below("headOf", "responsibleOf"), _below("responsibleOf", "Manager")), new=True,
        ),
        Update("5", "one university", last),
        Update("6", "two universities", last_two),
    ]  # fmt: skip


def beforehand(found: Iterable[Update]) -> list[Fact]:
    """What has to be in the data before the first update and is not generated."""
    return [fact for update in found if update.number in "123" for fact in update.facts]


def last_universities(data: Path, universities: int, count: int) -> tuple[Fact, ...]:
    """The triples of the last ones, which stand at the end of the data; at least one university stays."""
    start = f"<http://www.University{max(1, universities - count)}.edu> <{UB}name>"
    with data.open(encoding="utf-8") as lines:
        return tuple(_fact(line) for line in dropwhile(lambda line: not line.startswith(start), lines))


def _fact(line: str) -> Fact:
    return Fact(TRIPLE, tuple(Term(text) for text in line.removesuffix(" .\n").split(" ", 2)))


def _of_new_people(letter: str, name: str, count: int) -> tuple[Fact, ...]:
    return tuple(_stated(f"{letter}{i}", name, string(f"{letter}{i}")) for i in range(count))


def _stated(person: str, name: str, value: Term) -> Fact:
    return Fact(TRIPLE, (iri(f"http://www.example.org/update/{person}"), iri(f"{UB}{name}"), value))


def _below(name: str, above: str) -> Fact:
    return Fact(TRIPLE, (iri(f"{UB}{name}"), SUB_PROPERTY, iri(f"{UB}{above}")))
