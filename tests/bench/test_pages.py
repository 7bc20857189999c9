"""A page with numbers says what the data beside it say: whoever changes how a page is made makes it again."""

from __future__ import annotations

import json
from types import ModuleType

import pytest

from bench import equality, explain, owl, report, tuning
from bench.durable import report as durable
from bench.maintenance import report as maintenance
from bench.spark import measure as spark
from bench.sparql import measure as sparql
from bench.updates import report as updates
from tests.project.documents import ROOT

PAGES = {
    "benchmarks": report,
    "equality": equality,
    "explanations-benchmark": explain,
    "maintenance": maintenance,
    "owl": owl,
    "spark": spark,
    "sparql-benchmark": sparql,
    "store": durable,
    "tuning": tuning,
    "updates": updates,
}


def test_every_page_is_here() -> None:
    assert {path.stem for path in (ROOT / "docs").glob("*.json")} == PAGES.keys()


@pytest.mark.parametrize(("name", "module"), PAGES.items(), ids=PAGES)
def test_the_page_is_made_from_its_data(name: str, module: ModuleType) -> None:
    result = json.loads((ROOT / "docs" / f"{name}.json").read_text())
    assert module.markdown(result).strip() in (ROOT / "docs" / f"{name}.md").read_text()
