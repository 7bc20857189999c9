"""The OWL 2 RL page: closures by kind, and how often as fast as the peers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench import owl
from bench.__main__ import chosen_workloads
from bench.case import Case
from bench.engines import ENGINES
from bench.engines.kinds import CLASSES, EXPRESSIONS, OF_DATA, by_kind
from bench.workloads import one_department
from tests.bench.test_report import RUN
from tidelog.model.terms import OWL, RDF, RDFS

TYPE = f"{RDF}type"


def run(total: float, **facts: int) -> dict[str, object]:
    timed = {"seconds": {"load": total / 4, "closure": total * 3 / 4}, "total": total}
    return {**timed, "facts": facts, "derivations": None, "peak_bytes": 2**27, "memory": {}}


RESULT = {
    **{key: RUN[key] for key in ("machine", "versions")},
    "workloads": {
        "owl-1": {
            "title": "1 university",
            "disagreement": None,
            "engines": {
                "tidelog-owl2rl": run(2.0, same=5, more=1_000),
                "tidelog-compiled": run(1.0, same=5, more=7),
                "reasonable": run(20.0, same=5, more=7, theirs=3),
                "owlrl": {"skipped": "more than 300 s"},
            },
        }
    },
}
LINES = [
    "| owl-1 | tidelog-owl2rl | 0.50 | 1.50 | 2.00 | 1.0 × | 1,005 (OWL 2 RL) |  | 128 |",
    "| owl-1 | reasonable | 5.00 | 15.00 | 20.00 | 10.0 × | 15 (OWL 2 RL) |  | 128 |",
    "| owl-1 | owlrl |  |  | more than 300 s |  |  |  |  |",
    "- owl-1: tidelog-owl2rl is 10.0 times as fast as reasonable.",
    "- owl-1: tidelog-compiled is 20.0 times as fast as reasonable.",
    "- owl-1: tidelog-owl2rl is more than 150 times as fast as owlrl.",
    "| kind | tidelog-owl2rl | tidelog-compiled | reasonable |",
    "| all | 1,005 | 12 | 15 |",
    "| more | 1,000 | 7 | 7 |",
    "| theirs | — | — | 3 |",
]


@pytest.mark.parametrize("line", LINES)
def test_the_page(line: str) -> None:
    assert line in owl.markdown(RESULT).splitlines()


def test_what_is_the_same_is_left_out() -> None:
    assert "| same |" not in owl.markdown(RESULT)


def test_publishing(tmp_path: Path) -> None:
    (tmp_path / "owl.md").write_text("<!-- bench:begin -->\nold\n<!-- bench:end -->\n")
    (tmp_path / "result.json").write_text(json.dumps(RESULT))
    owl.publish(tmp_path / "result.json", tmp_path)
    assert "old" not in (tmp_path / "owl.md").read_text()
    assert json.loads((tmp_path / "owl.json").read_text()) == RESULT


def test_kinds() -> None:
    pairs = [
        (TYPE, f"{OWL}Thing"),
        (TYPE, f"{OWL}Thing"),
        (TYPE, "http://example.org/Person"),
        (TYPE, "N12ab"),
        (f"{RDFS}subClassOf", "http://example.org/Person"),
        ("http://example.org/knows", f"{OWL}Thing"),
    ]
    assert by_kind(pairs) == {"rdf:type owl:Thing": 2, CLASSES: 1, EXPRESSIONS: 1, "rdfs:subClassOf": 1, OF_DATA: 1}


def test_owlrl_has_the_smallest_size_only() -> None:
    assert [w.name for w in owl.WORKLOADS if "owlrl" in w.engines] == ["owl-1"]
    assert [w.name for w in chosen_workloads(["owl"], True, owl.NAME, owl.WORKLOADS)] == ["owl-1"]
    assert [w.name for w in chosen_workloads(["owl-10"], False, owl.NAME, owl.WORKLOADS)] == ["owl-10"]


@pytest.fixture(scope="module")
def department(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return one_department(tmp_path_factory.mktemp("department"))


@pytest.mark.parametrize("engine", [*owl.OWN, "reasonable"])
def test_the_engines_run(engine: str, department: Case) -> None:
    measure = ENGINES[engine].run(department)
    assert set(measure.seconds) == {"load", "closure"}
    assert measure.facts[CLASSES] > 1_000
    assert measure.facts[OF_DATA] > 5_000


def test_compiled_rules_state_no_class_expressions(department: Case) -> None:
    by_rules, compiled = (ENGINES[engine].run(department).facts for engine in owl.OWN)
    assert by_rules[CLASSES] == compiled[CLASSES]
    assert by_rules[OF_DATA] == compiled[OF_DATA]
    assert EXPRESSIONS in by_rules


def test_owlrl_finds_the_same_but_for_what_the_page_says(department: Case, tmp_path: Path) -> None:
    lines = department.data_path.read_text().splitlines(keepends=True)
    (tmp_path / "some.nt").write_text("".join(lines[::20]))
    (tmp_path / "ontology.ttl").write_text(Path(department.folder, str(department.ontology)).read_text())
    some = replace(department, folder=str(tmp_path), data="some.nt", ontology="ontology.ttl")
    ours, theirs = (ENGINES[engine].run(some).facts for engine in ("tidelog-owl2rl", "owlrl"))
    differing = {kind for kind in {*ours, *theirs} if ours.get(kind) != theirs.get(kind)}
    assert differing == {"owl:sameAs", "rdf:type rdfs:Datatype"}
    assert "owl:sameAs" not in ours
    assert theirs["rdf:type rdfs:Datatype"] > ours["rdf:type rdfs:Datatype"]
