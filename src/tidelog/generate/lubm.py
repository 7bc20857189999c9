"""University data in the shape of LUBM, the Lehigh University Benchmark (Guo, Pan and Heflin 2005).

    write(10, Path("out"))            out/university-data.nt, out/univ-bench.ttl, out/univ-bench.rls
    write(1, Path("one.nt.gz"))       the data alone

Classes, properties and cardinalities are those of the published profile, so the 14 queries of the benchmark have
answers of the usual size. The triples of university k depend only on the seed and on k, not on the number of
universities. Degrees are from the first `DEGREE_UNIVERSITIES` universities, even if their data are not generated, as in
the original. No triple is written twice.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import IO, Literal, cast

from tidelog.errors import UsageError
from tidelog.generate import package_text
from tidelog.model.terms import RDF_TYPE

UB = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
ONTOLOGY = "univ-bench.ttl"
RULES = "univ-bench.rls"
DEGREE_UNIVERSITIES = 1000
RESEARCH_INTERESTS = 30

Format = Literal["nt", "ttl"]
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Rank:
    """A kind of faculty member: how many a department has, and how many publications each has."""

    name: str
    members: Range
    publications: Range

    @property
    def is_professor(self) -> bool:
        return self.name.endswith("Professor")


RANKS = (
    Rank("FullProfessor", members=(7, 10), publications=(15, 20)),
    Rank("AssociateProfessor", members=(10, 14), publications=(10, 18)),
    Rank("AssistantProfessor", members=(8, 11), publications=(5, 10)),
    Rank("Lecturer", members=(5, 7), publications=(0, 5)),
)
DEPARTMENTS: Range = (15, 25)
RESEARCH_GROUPS: Range = (10, 20)
UNDERGRADUATES_PER_FACULTY: Range = (8, 14)
GRADUATES_PER_FACULTY: Range = (3, 4)
COURSES_TAUGHT: Range = (1, 2)  # per faculty member and level
UNDERGRADUATE_COURSES: Range = (2, 4)
GRADUATE_COURSES: Range = (1, 3)
GRADUATE_PUBLICATIONS: Range = (0, 5)
ADVISED_UNDERGRADUATES = 1 / 5
TEACHING_ASSISTANTS = (1 / 5, 1 / 4)  # of the graduates
RESEARCH_ASSISTANTS = (1 / 4, 1 / 3)


def write(universities: int, out: Path, *, seed: int = 0, format: Format | None = None) -> int:
    """Write the data of `universities` universities and return the number of triples.

    `out` is a file (`.nt`, `.ttl`, also `.gz`), or a directory, which also gets the ontology and its rules.
    """
    if universities < 1:
        raise UsageError(f"the number of universities must be at least 1, not {universities}")
    named = _format_of(out)
    if named is None:
        out.mkdir(parents=True, exist_ok=True)
        for name in (ONTOLOGY, RULES):
            (out / name).write_text(package_text(name), encoding="utf-8")
        return _write_data(universities, out / f"university-data.{format or 'nt'}", seed, format or "nt")
    if format not in (None, named):
        raise UsageError(f"{out.name} says {named} but the format asked for is {format}; leave the format out")
    return _write_data(universities, out, seed, named)


def _format_of(out: Path) -> Format | None:
    suffix = Path(out.name.removesuffix(".gz")).suffix.removeprefix(".")
    return cast(Format, suffix) if suffix in ("nt", "ttl") else None


def _write_data(universities: int, path: Path, seed: int, format: Format) -> int:
    triples = 0
    names = _Vocabulary(format)
    with ExitStack() as stack:
        file = _open(path, stack)
        file.write(names.header.encode())
        for chunk in _chunks(universities, seed, names):
            file.write(chunk.encode())
            triples += chunk.count("\n")
    return triples


def _open(path: Path, stack: ExitStack) -> IO[bytes]:
    file = stack.enter_context(path.open("wb", buffering=1 << 20))
    if path.suffix != ".gz":
        return file
    # The header has no name and no time, so the same data give the same bytes.
    packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=4, mtime=0)
    return cast(IO[bytes], stack.enter_context(packed))


def _chunks(universities: int, seed: int, names: _Vocabulary) -> Iterator[str]:
    """The text of all universities, then of each department. Only one chunk is in memory at a time."""
    known = range(max(universities, DEGREE_UNIVERSITIES))
    yield "".join(f"<http://www.University{u}.edu>{names.type}{names['University']} .\n" for u in known)
    for university in range(universities):
        random = Random(f"{seed} {university}")
        yield f'<http://www.University{university}.edu>{names["name"]}"University{university}" .\n'
        for department in range(_between(random, DEPARTMENTS)):
            yield _Department(random, names, university, department).text()


class _Vocabulary:
    """Classes and properties in the syntax of the format; properties have a space on both sides."""

    def __init__(self, format: Format) -> None:
        short = format == "ttl"
        self.header = f"@prefix ub: <{UB}> .\n" if short else ""
        self.type = " a " if short else f" {RDF_TYPE} "
        self._prefix, self._end = ("ub:", "") if short else (f"<{UB}", ">")
        self._rendered: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._rendered:
            text = f"{self._prefix}{name}{self._end}"
            self._rendered[name] = text if name[0].isupper() else f" {text} "
        return self._rendered[name]


def _between(random: Random, ends: Range) -> int:
    """A random number between the ends, both included.

    Uses `random()` only, because Python guarantees the values of that method for every version.
    """
    low, high = ends
    return low + int(random.random() * (high - low + 1))


def _distinct(random: Random, count: int, population: int) -> list[int]:
    """`count` different numbers below `population`, in the order drawn."""
    draw = random.random
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        drawn[int(draw() * population)] = None
    return list(drawn)


class _Department:
    """One department. `text` calls the other methods in order; later methods use the results of earlier ones."""

    def __init__(self, random: Random, names: _Vocabulary, university: int, department: int) -> None:
        self.random = random
        self.names = names
        self.university = f"<http://www.University{university}.edu>"
        self.host = f"Department{department}.University{university}.edu"
        self.iri = f"<http://www.{self.host}>"
        self.label = f"Department{department}"
        self.out: list[str] = []
        self.members = {rank.name: self.between(rank.members) for rank in RANKS}
        self.courses = self.graduate_courses = 0
        self.publications: list[str] = []

    def text(self) -> str:
        self.organisation()
        for rank in RANKS:
            self.faculty(rank)
        size = sum(self.members.values())
        self.undergraduates(self.proportion(size, UNDERGRADUATES_PER_FACULTY))
        self.graduates(self.proportion(size, GRADUATES_PER_FACULTY))
        return "".join(self.out)

    def between(self, ends: Range) -> int:
        return _between(self.random, ends)

    def proportion(self, of: int, ends: tuple[float, float]) -> int:
        """A random share of `of` between the two ends."""
        low, high = ends
        return int(of * (low + self.random.random() * (high - low)))

    def inside(self, kind: str, number: int) -> str:
        return f"<http://www.{self.host}/{kind}{number}>"

    def degree(self) -> str:
        return f"<http://www.University{int(self.random.random() * DEGREE_UNIVERSITIES)}.edu>"

    def organisation(self) -> None:
        n = self.names
        self.out.append(f"{self.iri}{n.type}{n['Department']} .\n")
        self.out.append(f'{self.iri}{n["name"]}"{self.label}" .\n')
        self.out.append(f"{self.iri}{n['subOrganizationOf']}{self.university} .\n")
        head = self.inside("FullProfessor", int(self.random.random() * self.members["FullProfessor"]))
        self.out.append(f"{head}{n['headOf']}{self.iri} .\n")
        for number in range(self.between(RESEARCH_GROUPS)):
            group = self.inside("ResearchGroup", number)
            self.out.append(f"{group}{n.type}{n['ResearchGroup']} .\n{group}{n['subOrganizationOf']}{self.iri} .\n")

    def person(self, kind: str, number: int) -> str:
        """Write the triples that every person has; return the IRI of the person."""
        n = self.names
        who = self.inside(kind, number)
        self.out.append(
            f"{who}{n.type}{n[kind]} .\n"
            f'{who}{n["name"]}"{kind}{number}" .\n'
            f'{who}{n["emailAddress"]}"{kind}{number}@{self.host}" .\n'
            f'{who}{n["telephone"]}"xxx-xxx-xxxx" .\n'
        )
        return who

    def faculty(self, rank: Rank) -> None:
        n = self.names
        for number in range(self.members[rank.name]):
            who = self.person(rank.name, number)
            self.out.append(
                f"{who}{n['worksFor']}{self.iri} .\n"
                f"{who}{n['undergraduateDegreeFrom']}{self.degree()} .\n"
                f"{who}{n['mastersDegreeFrom']}{self.degree()} .\n"
                f"{who}{n['doctoralDegreeFrom']}{self.degree()} .\n"
            )
            if rank.is_professor:
                interest = int(self.random.random() * RESEARCH_INTERESTS)
                self.out.append(f'{who}{n["researchInterest"]}"Research{interest}" .\n')
            self.courses = self.teaches(who, "Course", self.courses)
            self.graduate_courses = self.teaches(who, "GraduateCourse", self.graduate_courses)
            self.publishes(who, self.between(rank.publications))

    def teaches(self, who: str, level: str, first: int) -> int:
        """Write one or two courses with this only teacher; return the next free number."""
        n = self.names
        end = first + self.between(COURSES_TAUGHT)
        for number in range(first, end):
            course = self.inside(level, number)
            self.out.append(
                f"{course}{n.type}{n[level]} .\n"
                f'{course}{n["name"]}"{level}{number}" .\n'
                f"{who}{n['teacherOf']}{course} .\n"
            )
        return end

    def publishes(self, who: str, count: int) -> None:
        n = self.names
        for number in range(count):
            publication = f"{who[:-1]}/Publication{number}>"
            self.publications.append(publication)
            self.out.append(
                f"{publication}{n.type}{n['Publication']} .\n"
                f'{publication}{n["name"]}"Publication{number}" .\n'
                f"{publication}{n['publicationAuthor']}{who} .\n"
            )

    def undergraduates(self, count: int) -> None:
        for number in range(count):
            who = self.person("UndergraduateStudent", number)
            self.studies(who, "Course", self.courses, UNDERGRADUATE_COURSES)
            if self.random.random() < ADVISED_UNDERGRADUATES:
                self.advised(who)

    def graduates(self, count: int) -> None:
        n = self.names
        for number in range(count):
            who = self.person("GraduateStudent", number)
            self.out.append(f"{who}{n['undergraduateDegreeFrom']}{self.degree()} .\n")
            self.studies(who, "GraduateCourse", self.graduate_courses, GRADUATE_COURSES)
            self.advised(who)
            for index in _distinct(self.random, self.between(GRADUATE_PUBLICATIONS), len(self.publications)):
                self.out.append(f"{self.publications[index]}{n['publicationAuthor']}{who} .\n")
        self.assistants(count)

    def studies(self, who: str, level: str, courses: int, taken: Range) -> None:
        takes = f"{who}{self.names['takesCourse']}<http://www.{self.host}/{level}"
        chosen = _distinct(self.random, self.between(taken), courses)
        lines = "".join([f"{takes}{number}> .\n" for number in chosen])
        self.out.append(f"{who}{self.names['memberOf']}{self.iri} .\n{lines}")

    def advised(self, who: str) -> None:
        """Write the advisor. The rank is chosen first, then the person, so all ranks have equally many students."""
        professors = [rank.name for rank in RANKS if rank.is_professor]
        rank = professors[int(self.random.random() * len(professors))]
        advisor = self.inside(rank, int(self.random.random() * self.members[rank]))
        self.out.append(f"{who}{self.names['advisor']}{advisor} .\n")

    def assistants(self, graduates: int) -> None:
        """Write disjoint sets of teaching and research assistants. Each teaching assistant has a different course."""
        n = self.names
        teaching = self.proportion(graduates, TEACHING_ASSISTANTS)
        research = self.proportion(graduates, RESEARCH_ASSISTANTS)
        chosen = _distinct(self.random, teaching + research, graduates)
        for number, course in zip(chosen[:teaching], _distinct(self.random, teaching, self.courses), strict=True):
            who = self.inside("GraduateStudent", number)
            self.out.append(f"{who}{n.type}{n['TeachingAssistant']} .\n")
            self.out.append(f"{who}{n['teachingAssistantOf']}{self.inside('Course', course)} .\n")
        for number in chosen[teaching:]:
            self.out.append(f"{self.inside('GraduateStudent', number)}{n.type}{n['ResearchAssistant']} .\n")
