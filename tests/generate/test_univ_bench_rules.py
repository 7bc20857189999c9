"""The rules that come with the university data are the datalog fragment of the ontology that comes with them."""

from __future__ import annotations

import re

from rdflib import Graph

from tests.generate.dlp import normal, translate
from tidelog.engines.reference.model import least_model
from tidelog.generate import lubm
from tidelog.model.terms import plain
from tidelog.model.vocabulary import RDF, RDF_TYPE
from tidelog.rules.parser import parse_facts, parse_rules


def rules() -> list[str]:
    text = re.sub(r"%.*", "", lubm.package_text(lubm.RULES))
    statements = [s.strip() for s in re.split(r"\s\.\s", text) if ":-" in s]
    return [normal(re.sub(r"\s+", " ", s)) for s in statements]


def test_every_axiom_has_its_rule_and_no_other() -> None:
    expected = translate(Graph().parse(data=lubm.package_text(lubm.ONTOLOGY), format="turtle"))
    assert sorted(rules()) == sorted(expected)


def test_size() -> None:
    assert len(rules()) == len(parse_rules(lubm.package_text(lubm.RULES))) == 98


def test_what_follows_for_a_head_of_department() -> None:
    facts = f"""
        @prefix ub: <{lubm.UB}> . @prefix rdf: <{RDF}> .
        [ann, ub:headOf, d] . [d, rdf:type, ub:Department] . [bob, ub:advisor, ann] .
    """
    model = least_model(parse_rules(lubm.package_text(lubm.RULES)), parse_facts(facts))
    types = {plain(o).partition("#")[2] for _, (s, p, o) in model if s == "<ann>" and p == RDF_TYPE}
    assert types == {"Chair", "Employee", "Faculty", "Person", "Professor"}
