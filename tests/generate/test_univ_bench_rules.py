"""The rules that come with the university data are the datalog fragment of the ontology that comes with them."""

from __future__ import annotations

import re

from rdflib import Graph

from tests.generate.dlp import normal, translate
from tidelog.generate import lubm


def rules() -> list[str]:
    text = re.sub(r"%.*", "", lubm.package_text(lubm.RULES))
    statements = [s.strip() for s in re.split(r"\s\.\s", text) if ":-" in s]
    return [normal(re.sub(r"\s+", " ", s)) for s in statements]


def test_every_axiom_has_its_rule_and_no_other() -> None:
    expected = translate(Graph().parse(data=lubm.package_text(lubm.ONTOLOGY), format="turtle"))
    assert sorted(rules()) == sorted(expected)


def test_size() -> None:
    assert len(rules()) == 98
