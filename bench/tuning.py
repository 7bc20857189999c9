"""Each constant of `tidelog.tuning` at a quarter of its value, at its value and at four times its value.

    python -m bench tuning                  all constants; writes docs/tuning.json and docs/tuning.md
    python -m bench tuning MOST_CODED       one constant

`constants` reads the table from the source of `tidelog/tuning.py`: value, meaning and workload. A workload is a short
run, repeated in turn with each value; the least time counts. The constants of Spark are not varied: `python -m bench
spark` set them, and each of its runs starts a Java process for minutes.
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import tidelog
from bench import machine
from bench.report import fill, machine_line, table, write_result
from tidelog import tuning
from tidelog.generate import el, lubm, package_text

NAME = "tuning"
SPARK = "spark"
FACTORS = {"a quarter": 0.25, "as it is": 1.0, "four times": 4.0}
ROUNDS = 3
LARGEST_SHARE = 0.9

Result = dict[str, Any]
Run = Callable[[], object]

_LINE = re.compile(r"([A-Z_]+) = (.+?)  # (.+) \[(\w+)\]")
_PREFIXES = "PREFIX ub: <http://swat.cse.lehigh.edu/onto/univ-bench.owl#> "
_QUERIES = (
    "SELECT ?x ?n { ?x a ub:Student ; ub:name ?n ; ub:takesCourse ?c . ?t ub:teacherOf ?c } ORDER BY ?n LIMIT 10",
    "SELECT ?d (COUNT(?x) AS ?n) { ?x ub:memberOf ?d . ?x ub:name ?name FILTER(CONTAINS(?name, '1')) } GROUP BY ?d",
    "SELECT * { ?x ub:advisor ?y . OPTIONAL { ?y ub:headOf ?d } }",
    "SELECT DISTINCT ?y { ?x ub:worksFor/ub:subOrganizationOf ?y }",
)
_VALUES = """
    sum(?k, #sum(?v, ?i)) :- row(?i, ?k, ?v) .
    text(?i, ?t) :- row(?i, ?k, ?v), ?t = CONCAT(STR(?k), STR(?v * 2 + 1)), ?v > 3 .
"""
_REACH = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."


@dataclass(frozen=True)
class Constant:
    """One line of `tidelog/tuning.py`."""

    name: str
    value: str
    meaning: str
    workload: str


def constants() -> list[Constant]:
    """All constants of `tidelog.tuning`, in the order of the file."""
    matches = map(_LINE.fullmatch, inspect.getsource(tuning).splitlines())
    return [Constant(*match.groups()) for match in matches if match]


class Data:
    """What the workloads read, made once in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.universities, self.ontology, self.stored = folder / "lubm.nt", folder / "el", folder / "closed.kb"
        lubm.write(1, self.universities)
        el.write(700, self.ontology)
        self.loaded, self.closed = tidelog.open(), tidelog.open(self.stored)
        self.rules = package_text("univ-bench.rls")
        self.loaded.load(self.universities, engine="local")
        self.closed.load(self.universities, engine="local")
        self.closed.apply(add_rules=self.rules, engine="local")
        explicit = sorted(self.loaded.facts("triple", "explicit"), key=str)
        self.facts = Random(0).sample(explicit, 4_000)

    def opened(self) -> tidelog.KnowledgeBase:
        """The closed universities without any index in memory."""
        return tidelog.open(self.stored, read_only=True)


def materialise(data: Data) -> Run:
    return lambda: data.loaded.preview(add_rules=data.rules, engine="local")


def closure(_: Data) -> Run:
    random, kb = Random(1), tidelog.open()
    edges = [(f"{i}.{random.randrange(40)}", f"{i + 1}.{random.randrange(40)}") for i in range(14) for _ in range(120)]
    kb.apply(add={"edge": edges})
    return lambda: kb.preview(add_rules=_REACH)


def ontology(data: Data) -> Run:
    return lambda: tidelog.open().load(data.ontology / el.RULES, engine="local")


def _previews(data: Data, sizes: Collection[int], algorithm: str = "auto") -> None:
    with data.opened() as kb:
        for number, size in enumerate(sizes):
            kb.preview(remove={"triple": data.facts[number * 7 : number * 7 + size]}, algorithm=algorithm)


def changes(data: Data) -> Run:
    return lambda: _previews(data, [1, 1, 10] * 8)


def lookups(data: Data) -> Run:
    return lambda: _previews(data, [1, 1, 100, 10, 1, 1, 10, 10])


def removal(data: Data) -> Run:
    return lambda: _previews(data, [300, 3_000])


def dred(data: Data) -> Run:
    return lambda: _previews(data, [1, 10, 1_000], "dred")


def predict(data: Data) -> Run:
    def run() -> None:
        with data.opened() as kb:
            for size in (1, 30, 1_000):
                kb.predict(remove={"triple": data.facts[:size]})

    return run


def encode(data: Data) -> Run:
    return lambda: tidelog.open().load(data.universities, engine="local")


def export(data: Data) -> Run:
    return lambda: sum(1 for _ in data.loaded.all_facts())


def values(_: Data) -> Run:
    kb = tidelog.open()
    kb.apply(add={"row": [(i, f"k{i % 50}", i * 7 % 1_000) for i in range(12_000)]})
    return lambda: kb.preview(add_rules=_VALUES)


def sparql(data: Data) -> Run:
    def run() -> None:
        with data.opened() as kb:
            for query in _QUERIES:
                list(kb.sparql(_PREFIXES + query))  # type: ignore[arg-type]

    return run


def commit(data: Data) -> Run:
    def run() -> None:
        folder = data.folder / "commits.kb"
        shutil.rmtree(folder, ignore_errors=True)
        with tidelog.open(folder) as kb:
            kb.apply(add={"triple": data.facts}, engine="local")
            for fact in data.facts[:12]:
                kb.apply(remove={"triple": [fact]})
        with tidelog.open(folder) as kb:
            len(kb.all_facts())

    return run


WORKLOADS: dict[str, Callable[[Data], Run]] = {
    made.__name__: made
    for made in (
        *(materialise, closure, ontology, changes, lookups, removal, dred, predict),
        *(encode, export, values, sparql, commit),
    )
}


def run(chosen: Collection[str] = ()) -> Result:
    """Vary the chosen constants, or all, and return the result for JSON."""
    versions = {"tidelog": tidelog.__version__}
    result: Result = {"machine": machine.describe(), "versions": versions, "constants": {}}
    with TemporaryDirectory() as folder:
        data = Data(Path(folder))
        runs: dict[str, Run] = {}
        for each in constants():
            if chosen and each.name not in chosen:
                continue
            row: Result = {"value": each.value, "meaning": each.meaning, "workload": each.workload}
            if each.workload != SPARK:
                if each.workload not in runs:
                    runs[each.workload] = WORKLOADS[each.workload](data)
                    runs[each.workload]()
                row["seconds"] = seconds(each.name, runs[each.workload])
                print(f"{each.name} {row['seconds']}", file=sys.stderr, flush=True)
            result["constants"][each.name] = row
    return result


def seconds(name: str, run: Run) -> dict[str, float]:
    """The least time of a run with each value of a constant."""
    least = dict.fromkeys(FACTORS, float("inf"))
    for _ in range(ROUNDS):
        for label, factor in FACTORS.items():
            with _changed(name, factor):
                start = time.perf_counter()
                run()
                least[label] = min(least[label], time.perf_counter() - start)
    return {label: round(least[label], 4) for label in FACTORS}


@contextmanager
def _changed(name: str, factor: float) -> Iterator[None]:
    before = getattr(tuning, name)
    setattr(tuning, name, scaled(before, factor))
    try:
        yield
    finally:
        setattr(tuning, name, before)


def scaled(value: Any, factor: float) -> Any:
    """A value times `factor`: whole numbers stay whole and at least 1, shares stay at most `LARGEST_SHARE`.

    >>> scaled(6, 0.25), scaled((4, 32), 4), scaled(0.65, 4.0)
    (1, (16, 128), 0.9)
    """
    if isinstance(value, tuple):
        return tuple(scaled(each, factor) for each in value)
    if isinstance(value, int):
        return max(1, int(value * factor))
    return min(value * factor, LARGEST_SHARE) if value < 1 else value * factor


def write(result: Result, folder: Path, name: str) -> None:
    """Write `name.json` and `name.md` in the folder."""
    write_result(result, folder, name, markdown(result))


def publish(source: Path, docs: Path) -> None:
    """Rewrite the generated part of `tuning.md`, and write the data to `docs`."""
    fill(docs / f"{NAME}.md", markdown(json.loads(source.read_text())))
    shutil.copyfile(source, docs / f"{NAME}.json")


def markdown(result: Result) -> str:
    columns = ("constant", "value", "unit and meaning", "workload", "¼, ms", "as it is, ms", "× 4, ms")
    return f"{machine_line(result)}\n\n{table(columns, _rows(result))}\n"


def _rows(result: Result) -> Iterator[tuple[str, ...]]:
    for name, row in result["constants"].items():
        times = row.get("seconds", {})
        measured = (f"{times[label] * 1000:,.0f}" if times else "not varied" for label in FACTORS)
        yield (f"`{name}`", f"`{row['value']}`", row["meaning"], row["workload"], *measured)
