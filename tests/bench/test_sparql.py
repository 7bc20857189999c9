"""The benchmark on one department: both engines give the same rows, and the page is written between its markers."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import machine
from bench.report import BEGIN, END
from bench.sparql import measure, worker
from bench.sparql.queries import queries


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> measure.Result:
    closure = measure._closure("lubm-tiny", tmp_path_factory.mktemp("data"))
    engines = {engine: worker.measure(engine, str(closure), 0.001) for engine in worker.ENGINES}
    return {engine: {**each, "peak_bytes": 0} for engine, each in engines.items()}


def test_engines_agree(found: measure.Result) -> None:
    assert list(queries()) == [f"Q{n}" for n in range(1, 15)]
    measure._check("tiny", found)
    rows = {query: each["rows"] for query, each in found["tidelog"]["queries"].items()}
    assert sum(1 for n in rows.values() if n) > 8  # what asks for other departments has none here
    assert rows["Q14"] > 100


def test_a_disagreement_ends_the_run(found: measure.Result) -> None:
    other = {"queries": {**found["tidelog"]["queries"], "Q1": {"rows": -1}}}
    with pytest.raises(SystemExit, match="disagree"):
        measure._check("tiny", {"tidelog": found["tidelog"], "pyoxigraph": other})


def test_the_page(found: measure.Result, tmp_path: Path) -> None:
    result = {"machine": machine.describe(), "versions": {"tidelog": "1"}, "sizes": {"sparql-tiny": found}}
    page = tmp_path / f"{measure.PAGE}.md"
    page.write_text(f"before\n{BEGIN}\n{END}\nafter\n")
    measure.write(result, tmp_path, "sparql-full")
    measure.publish(tmp_path / "sparql-full.json", tmp_path)
    text = page.read_text()
    assert f"| Q14 | {found['tidelog']['queries']['Q14']['rows']:,} |" in text
    assert text.startswith("before") and text.endswith("after\n")


@pytest.mark.parametrize(
    ("names", "quick", "chosen"),
    [
        ([], False, ["sparql-10", "sparql-100"]),
        ([], True, ["sparql-10"]),
        (["sparql"], False, ["sparql-10", "sparql-100"]),
        (["sparql-100"], True, ["sparql-100"]),
        (["lubm-1"], False, []),
    ],
)
def test_sizes(names: list[str], quick: bool, chosen: list[str]) -> None:
    assert measure.chosen(names, quick) == chosen
