"""The university data follow the published profile, and are the same on every machine."""

from __future__ import annotations

import gzip
import hashlib
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph
import pytest

from tidelog.errors import UsageError
from tidelog.generate import lubm

Triple = tuple[str, str, str]

# The middle of each published range, per department.
PER_DEPARTMENT = {
    "FullProfessor": 8.5,
    "AssociateProfessor": 12,
    "AssistantProfessor": 9.5,
    "Lecturer": 6,
    "UndergraduateStudent": 11 * 36,
    "GraduateStudent": 3.5 * 36,
    "TeachingAssistant": 3.5 * 36 * 9 / 40,
    "ResearchAssistant": 3.5 * 36 * 7 / 24,
    "Course": 1.5 * 36,
    "GraduateCourse": 1.5 * 36,
    "Publication": 8.5 * 17.5 + 12 * 14 + 9.5 * 7.5 + 6 * 2.5,
    "ResearchGroup": 15,
    "takesCourse": 3 * 11 * 36 + 2 * 3.5 * 36,
    "advisor": 11 * 36 / 5 + 3.5 * 36,
    "memberOf": 11 * 36 + 3.5 * 36,
    "worksFor": 36,
    "headOf": 1,
    "researchInterest": 30,
    "undergraduateDegreeFrom": 36 + 3.5 * 36,
    "mastersDegreeFrom": 36,
    "doctoralDegreeFrom": 36,
}
# How many values of a property one thing of a class has.
PER_THING = [
    ("FullProfessor", "doctoralDegreeFrom", (1, 1)),
    ("FullProfessor", "researchInterest", (1, 1)),
    ("FullProfessor", "teacherOf", (2, 4)),
    ("Lecturer", "researchInterest", (0, 0)),
    ("Lecturer", "worksFor", (1, 1)),
    ("UndergraduateStudent", "takesCourse", (2, 4)),
    ("UndergraduateStudent", "advisor", (0, 1)),
    ("UndergraduateStudent", "telephone", (1, 1)),
    ("GraduateStudent", "takesCourse", (1, 3)),
    ("GraduateStudent", "advisor", (1, 1)),
    ("GraduateStudent", "memberOf", (1, 1)),
    ("GraduateStudent", "emailAddress", (1, 1)),
    ("TeachingAssistant", "teachingAssistantOf", (1, 1)),
    ("ResearchAssistant", "teachingAssistantOf", (0, 0)),
    ("Publication", "name", (1, 1)),
    ("ResearchGroup", "subOrganizationOf", (1, 1)),
    ("Department", "subOrganizationOf", (1, 1)),
]


@cache
def data(universities: int, seed: int = 0) -> tuple[Triple, ...]:
    """The triples with local names for classes and properties."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "data.nt")
        count = lubm.write(universities, path, seed=seed)
        triples = tuple(_triple(line) for line in path.read_text().splitlines())
    assert len(triples) == count
    return triples


def _triple(line: str) -> Triple:
    s, p, o = line.removesuffix(" .").split(" ", 2)
    return s, _local(p), _local(o) if p.endswith("#type>") else o


def _local(iri: str) -> str:
    return iri.rpartition("#")[2].removesuffix(">")


@cache
def members() -> dict[str, list[str]]:
    """The things of each class."""
    by_class: dict[str, list[str]] = defaultdict(list)
    for s, p, o in data(3):
        if p == "type":
            by_class[o].append(s)
    return by_class


@cache
def values() -> dict[str, dict[str, list[str]]]:
    """The values of each property of each thing."""
    by_property: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for s, p, o in data(3):
        by_property[p][s].append(o)
    return by_property


@pytest.mark.parametrize(("name", "expected"), PER_DEPARTMENT.items())
def test_average_department(name: str, expected: float) -> None:
    count = len(members()[name]) if name[0].isupper() else sum(map(len, values()[name].values()))
    assert count / len(members()["Department"]) == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize(("kind", "property", "ends"), PER_THING)
def test_values_per_thing(kind: str, property: str, ends: tuple[int, int]) -> None:
    seen = {len(values()[property].get(thing, ())) for thing in members()[kind]}
    assert (min(seen), max(seen)) == ends


def test_size_of_a_university() -> None:
    departments = Counter(o for d in members()["Department"] for o in values()["subOrganizationOf"][d])
    assert sorted(departments) == [f"<http://www.University{u}.edu>" for u in range(3)]
    assert all(15 <= count <= 25 for count in departments.values())
    assert len(data(3)) / departments.total() == pytest.approx(6_700, rel=0.05)


def test_no_triple_twice() -> None:
    assert len(set(data(3))) == len(data(3))


def test_everything_referred_to_exists() -> None:
    assert {o for _, p, o in data(3) if p != "type" and o[0] == "<"} <= set(values()["type"])


def test_roles_within_a_department() -> None:
    assert not set(members()["TeachingAssistant"]) & set(members()["ResearchAssistant"])
    assert set(values()["headOf"]) <= set(members()["FullProfessor"])


@pytest.mark.parametrize("property", ["teacherOf", "teachingAssistantOf"])
def test_no_course_is_shared(property: str) -> None:
    courses = [o for given in values()[property].values() for o in given]
    assert len(courses) == len(set(courses))


def test_a_university_does_not_depend_on_how_many_there_are() -> None:
    assert data(3)[: len(data(2))] == data(2)


def test_seeds_differ() -> None:
    assert data(2) != data(2, seed=1)


def test_same_bytes_everywhere(tmp_path: Path) -> None:
    lubm.write(1, tmp_path / "data.nt", seed=7)
    digest = hashlib.sha256((tmp_path / "data.nt").read_bytes()).hexdigest()
    assert digest == "7a902f869d4b85ef8df960e3338a074ad4e24b50d51776385994e03ad73c694c"


def test_formats_hold_the_same_triples(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("data.nt", "data.ttl", "data.nt.gz")]
    assert len({lubm.write(1, file) for file in files}) == 1
    lines, turtle, packed = files
    assert gzip.decompress(packed.read_bytes()) == lines.read_bytes()
    assert set(pyoxigraph.parse(path=turtle)) == set(pyoxigraph.parse(path=lines))


def test_packed_file_has_no_time_in_it(tmp_path: Path) -> None:
    lubm.write(1, tmp_path / "data.ttl.gz")
    assert (tmp_path / "data.ttl.gz").read_bytes()[4:8] == bytes(4)


def test_directory(tmp_path: Path) -> None:
    lubm.write(1, tmp_path / "new" / "folder", format="ttl")
    assert sorted(file.name for file in (tmp_path / "new" / "folder").iterdir()) == [
        "univ-bench.rls",
        "univ-bench.ttl",
        "university-data.ttl",
    ]


def test_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least 1, not 0"):
        lubm.write(0, tmp_path)
    with pytest.raises(UsageError, match=r"data\.nt says nt but the format asked for is ttl"):
        lubm.write(1, tmp_path / "data.nt", format="ttl")
