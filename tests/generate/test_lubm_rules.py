"""The rules that come with the university data are those of the ontology that comes with them, axiom by axiom."""

from __future__ import annotations

from rdflib import Graph

import tidelog
from tests.reference.engine import least_model
from tidelog.generate import lubm, package_text
from tidelog.model.terms import RDF, RDF_TYPE, plain
from tidelog.rules.parsing.parser import parse_facts, parse_rules
from tidelog.rules.syntax import Rule

# What follows from the classes alone, without the one whom they speak of: the rules are those of one axiom at a time.
FROM_SEVERAL_AXIOMS = """
    [?x, rdf:type, ub:Employee] :- [?x, rdf:type, ub:Person], [?x, rdf:type, ub:ResearchAssistant] .
    [?x, rdf:type, ub:Student] :- [?x, rdf:type, ub:Person], [?x, rdf:type, ub:GraduateStudent] .
"""


def keys(rules: list[Rule]) -> list[str]:
    return sorted(rule.key for rule in rules)


def test_every_axiom_has_its_rule_and_no_other() -> None:
    ontology = tidelog.ontology(Graph().parse(data=package_text(lubm.ONTOLOGY), format="turtle"))
    more = parse_rules(f"@prefix ub: <{lubm.UB}> . {FROM_SEVERAL_AXIOMS}")
    assert keys(parse_rules(package_text(lubm.RULES)) + more) == keys(list(ontology))


def test_size() -> None:
    assert len(parse_rules(package_text(lubm.RULES))) == 98


def test_what_follows_for_a_head_of_department() -> None:
    facts = f"""
        @prefix ub: <{lubm.UB}> . @prefix rdf: <{RDF}> .
        [ann, ub:headOf, d] . [d, rdf:type, ub:Department] . [bob, ub:advisor, ann] .
    """
    model = least_model(parse_rules(package_text(lubm.RULES)), parse_facts(facts))
    types = {plain(o).partition("#")[2] for _, (s, p, o) in model if s == "<ann>" and p == RDF_TYPE}
    assert types == {"Chair", "Employee", "Faculty", "Person", "Professor"}
