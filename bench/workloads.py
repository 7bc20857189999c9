"""The workloads as data: how to generate each one, and which engines can run it."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from bench.case import Case
from tidelog.generate import cliques, el, lubm

RDF_ENGINES = ("tidelog", "nemo", "clingo", "reasonable", "owlrl")
DATALOG_ENGINES = ("tidelog", "nemo", "clingo")
HEADLINE = ("tidelog", "nemo")
EL_RELATIONS = ("subRole", "init", "subClass", "link", "subClassOf")
CLOSURE = """\
@import edge :- csv{resource="edge.csv"} .

path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .

@export path :- csv{resource="path.csv"} .
"""
EDGES_PER_NODE = 2.5


@dataclass(frozen=True)
class Workload:
    """One size of a family. Within a family, the time of an engine should grow at least linearly with the size."""

    family: str
    label: str
    size: float
    title: str
    engines: tuple[str, ...]
    make: Callable[[Path], Case]
    quick: tuple[str, ...] = ()  # the engines of a quick run

    @property
    def name(self) -> str:
        return f"{self.family}-{self.label}"


def university(universities: int) -> Callable[[Path], Case]:
    def make(folder: Path) -> Case:
        lubm.write(universities, folder)
        return _rdf_case(folder)

    return make


def one_department(folder: Path) -> Case:
    """The first department of the first university: a size that every peer can do."""
    lubm.write(1, folder)
    path = folder / "university-data.nt"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "http://www.Department0.University0.edu" in line))
    return _rdf_case(folder)


def _rdf_case(folder: Path) -> Case:
    return Case(folder.name, str(folder), lubm.RULES, ("triple",), "university-data.nt", lubm.ONTOLOGY)


def classification(classes: int) -> Callable[[Path], Case]:
    def make(folder: Path) -> Case:
        el.write(classes, folder)
        return Case(folder.name, str(folder), el.RULES, EL_RELATIONS)

    return make


def random_graph(nodes: int) -> Callable[[Path], Case]:
    def make(folder: Path) -> Case:
        draw = Random(f"graph {nodes}").random
        edges = {(int(draw() * nodes), int(draw() * nodes)): None for _ in range(int(nodes * EDGES_PER_NODE))}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "edge.csv").write_text("".join(f"n{x},n{y}\n" for x, y in edges))
        (folder / "closure.rls").write_text(CLOSURE)
        return Case(folder.name, str(folder), "closure.rls", ("path",))

    return make


def clique(constants: int) -> Callable[[Path], Case]:
    def make(folder: Path) -> Case:
        cliques.write(constants, folder)
        return Case(folder.name, str(folder), cliques.RULES, (cliques.PREDICATE,))

    return make


WORKLOADS = (
    Workload("lubm", "tiny", 0.06, "one university department", RDF_ENGINES, one_department, RDF_ENGINES),
    Workload("lubm", "1", 1, "1 university", RDF_ENGINES, university(1), RDF_ENGINES[:-1]),
    Workload("lubm", "10", 10, "10 universities", RDF_ENGINES[:-1], university(10), HEADLINE),
    Workload("lubm", "100", 100, "100 universities", HEADLINE, university(100)),
    Workload(
        "el", "2000", 1, "EL classification, 2,000 classes", DATALOG_ENGINES, classification(2_000), DATALOG_ENGINES
    ),
    Workload("el", "20000", 10, "EL classification, 20,000 classes", DATALOG_ENGINES, classification(20_000), HEADLINE),
    Workload("closure", "1500", 1, "transitive closure, 1,500 nodes", DATALOG_ENGINES, random_graph(1_500), HEADLINE),
    Workload("closure", "4000", 7, "transitive closure, 4,000 nodes", DATALOG_ENGINES, random_graph(4_000)),
)


NAMED = {workload.name: workload for workload in WORKLOADS}


def prepare(workload: Workload, root: Path) -> Case:
    """The case of the workload. It is generated once, and again after the generators have changed."""
    folder = root.resolve() / _fingerprint() / workload.name
    case = folder / "case.json"
    if not case.exists():
        _remove_all_but(folder.parent)
        shutil.rmtree(folder, ignore_errors=True)
        case.write_text(workload.make(folder).to_json())
    return replace(Case.from_json(case.read_text()), folder=str(folder))


def _remove_all_but(current: Path) -> None:
    """Delete the data of older generators."""
    for old in set(current.parent.glob("*")) - {current}:
        shutil.rmtree(old)


def _fingerprint() -> str:
    sources = sorted([Path(__file__), *Path(lubm.__file__).parent.rglob("*.*")])
    text = b"".join(path.read_bytes() for path in sources if path.suffix in (".py", ".rls", ".ttl"))
    return hashlib.sha256(text).hexdigest()[:12]
