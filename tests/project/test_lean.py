"""Everything but Spark works without pyspark and pandas, which are most of the size of an installation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.documents import ROOT

BLOCK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j", "pandas", "pyspark_tidelog"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
from tidelog.cli import main
"""

USE = """
import tidelog, rdflib
with tidelog.open("a.kb") as kb:
    kb.load("data.nt", "facts.csv", progress=True)
    kb.apply(add_rules="[?y, <knows>, ?x] :- [?x, <knows>, ?y] . big(?x) :- facts(?x, ?n), ?n > 1 .")
    assert len(kb.sparql("SELECT ?x { ?x <knows> ?y }")) == 2
    assert sorted(kb.query("big(?x)")) == [("b",)]
    assert kb.query("big(?x)").to_arrow().num_rows == 1
    assert kb.explain("big(b)") and len(kb.to_rdflib()) == 2
    kb.apply(remove="[a, knows, b] .")
    assert kb.at(1).digest() != kb.digest() and kb.verify() is not None
    kb.export("out.parquet", relations=["big"]), kb.export("out.ttl", overwrite=True) if kb.facts("triple") else None
    for attempt in (lambda: kb.apply(add="big(c) .", engine="spark"), lambda: kb.export("o.csv", engine="spark")):
        try:
            attempt()
        except tidelog.UsageError as error:
            assert "Spark needs the Python package pyspark" in str(error) or "pandas" in str(error), error
        else:
            raise AssertionError("Spark is not there")
    assert kb.version == 3
graph = rdflib.Graph(store="tidelog")
graph.add((rdflib.URIRef("a"), rdflib.URIRef("b"), rdflib.URIRef("c")))
assert len(graph) == 1
print("all of it")
"""

COMMANDS = [
    (["init", "b.kb", "--ruleset", "rdfs"], 0),
    (["load", "b.kb", "data.nt", "--show", "9"], 0),
    (["query", "b.kb", "SELECT * { ?s ?p ?o } LIMIT 3"], 0),
    (["query", "b.kb", "triple(?x, <knows>, ?y)", "--format", "parquet", "--out", "rows.parquet"], 0),
    (["update", "b.kb", "--remove", "data.nt", "--dry-run"], 0),
    (["verify", "b.kb"], 0),
    (["status", "b.kb", "--json"], 0),
    (["export", "b.kb", "o.nt"], 0),
    (["compact", "b.kb"], 0),
    (["load", "b.kb", "s3a://bucket/a.nt"], 2),
    (["load", "b.kb", "data.nt", "--engine", "spark"], 2),
    (["load", "b.kb", "data.nt", "--master", "spark://127.0.0.1:1"], 2),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.nt").write_text("<a> <knows> <b> .\n")
    (tmp_path / "facts.csv").write_text("a,1\nb,2\n")
    return tmp_path


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", BLOCK + program]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_the_library_without_spark(folder: Path) -> None:
    done = run(USE, folder)
    assert (done.returncode, done.stdout) == (0, "all of it\n"), done.stderr


def test_the_commands_without_spark(folder: Path) -> None:
    program = f"codes = [main(words) for words, _ in {COMMANDS!r}]\nprint('codes', codes)"
    done = run(program, folder)
    assert done.stdout.splitlines()[-1:] == [f"codes {[code for _, code in COMMANDS]}"], done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("Spark needs the Python package") == 2
    assert done.stderr.count("only Spark reads s3a://") == 1
