"""What an ontology can be read from, how it prints, and what it says of the axioms that have no rules."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from tests.owl.cases import PREFIXES, turtle
from tidelog.owl.expressions import SAME_AS
from tidelog.rules.analysis.safety import check_rules
from tidelog.rules.parsing.parser import parse_rules

PETS = ":Dog rdfs:subClassOf :Animal . :owns rdfs:range :Animal ."
RULES = [
    "[?x, rdf:type, o:Animal] :- [?x, rdf:type, o:Dog] .",
    "[?x, rdf:type, o:Animal] :- [?y, o:owns, ?x] .",
]
SWRL_IN_XML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:swrl="http://www.w3.org/2003/11/swrl#"
         xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
  <swrl:Variable rdf:about="urn:swrl:var#x"/>
  <rdf:Description>
    <rdf:type rdf:resource="http://www.w3.org/2003/11/swrl#Imp"/>
    <rdfs:label>dogs bark</rdfs:label>
    <swrl:body><rdf:Description>
      <rdf:type rdf:resource="http://www.w3.org/2003/11/swrl#AtomList"/>
      <rdf:first><swrl:ClassAtom>
        <swrl:classPredicate rdf:resource="http://example.org/o#Dog"/><swrl:argument1 rdf:resource="urn:swrl:var#x"/>
      </swrl:ClassAtom></rdf:first>
      <rdf:rest rdf:resource="http://www.w3.org/1999/02/22-rdf-syntax-ns#nil"/>
    </rdf:Description></swrl:body>
    <swrl:head><rdf:Description>
      <rdf:type rdf:resource="http://www.w3.org/2003/11/swrl#AtomList"/>
      <rdf:first><swrl:ClassAtom>
        <swrl:classPredicate rdf:resource="http://example.org/o#Barker"/><swrl:argument1 rdf:resource="urn:swrl:var#x"/>
      </swrl:ClassAtom></rdf:first>
      <rdf:rest rdf:resource="http://www.w3.org/1999/02/22-rdf-syntax-ns#nil"/>
    </rdf:Description></swrl:head>
  </rdf:Description>
</rdf:RDF>
"""


def written(folder: Path, name: str, text: str) -> Path:
    prefixes = "".join(f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in PREFIXES.items())
    path = folder / name
    path.write_text(prefixes + text)
    return path


def bare(lines: str) -> list[str]:
    """The rules of a printed ontology without their names."""
    return [line.partition(")] ")[2] for line in lines.splitlines() if line.startswith("#[name")]


def test_from_a_file_a_glob_several_or_a_graph(tmp_path: Path) -> None:
    pets = written(tmp_path, "pets.ttl", PETS)
    first, second = (written(tmp_path, f"part{n}.ttl", f"{part} .") for n, part in enumerate(PETS[:-2].split(" . ")))
    for sources in ([pets], [str(pets)], [tmp_path / "part*.ttl"], [first, second], [turtle(PETS)]):
        assert sorted(bare(str(tidelog.ontology(*sources)))) == RULES


def test_swrl_as_ontology_editors_write_it(tmp_path: Path) -> None:
    path = tmp_path / "pets.owl"
    path.write_text(SWRL_IN_XML)
    (rule,) = tidelog.ontology(path)
    assert rule.name == "dogs bark: Dog(?x) -> Barker(?x)"
    assert not tidelog.ontology(path).facts


@pytest.mark.parametrize(
    ("sources", "equality", "message"),
    [
        ((), "auto", "needs a path"),
        ((5,), "auto", "cannot read an ontology from int"),
        ((turtle(PETS),), "some", 'equality is \'some\'; expected "auto", "axioms" or "none"'),
    ],
)
def test_wrong_use(sources: tuple[object, ...], equality: str, message: str) -> None:
    with pytest.raises(tidelog.UsageError, match=message):
        tidelog.ontology(*sources, equality=equality)  # type: ignore[arg-type]


def test_an_ontology_given_as_rules_is_to_be_compiled_first(tmp_path: Path) -> None:
    with tidelog.open() as kb, pytest.raises(tidelog.UsageError, match=r"compile it: tidelog.ontology\('.*pets.ttl'\)"):
        kb.apply(add_rules=written(tmp_path, "pets.ttl", PETS))


def test_a_table_is_no_ontology(tmp_path: Path) -> None:
    path = tmp_path / "pets.csv"
    path.write_text("rex,dog\n")
    with pytest.raises(tidelog.UsageError, match="2 columns"):
        tidelog.ontology(path)


def test_what_prints_is_a_program() -> None:
    text = """:A owl:equivalentClass [ owl:intersectionOf ( :B [ a owl:Restriction ; owl:onProperty :p ;
        owl:hasValue "a \\"quoted\\" text" ] ) ] . :p a owl:FunctionalProperty . :A owl:disjointWith :C .
        [ a owl:AllDifferent ] owl:members ( i:x i:y i:z ) ."""
    rules = tidelog.ontology(turtle(text))
    assert parse_rules(str(rules)) == list(rules)
    assert [rule.name for rule in parse_rules(str(rules))] == [rule.name for rule in rules]
    check_rules(rules)


def test_rules_are_there_once_and_named_after_their_first_axiom() -> None:
    rules = tidelog.ontology(turtle(":A owl:equivalentClass :B . :B rdfs:subClassOf :A . :B owl:equivalentClass :A ."))
    assert [rule.name for rule in rules] == ["A EquivalentTo B"] * 2


@pytest.mark.parametrize(
    ("text", "equality", "derives", "congruence"),
    [
        (PETS, "auto", False, False),
        (PETS, "axioms", False, True),
        (":p a owl:FunctionalProperty .", "auto", True, True),
        (":p a owl:FunctionalProperty .", "none", True, False),
        ("i:x owl:sameAs i:y .", "auto", False, True),
    ],
)
def test_equality_is_a_part_of_its_own(text: str, equality: str, derives: bool, congruence: bool) -> None:
    rules = tidelog.ontology(turtle(text), equality=equality)  # type: ignore[arg-type]
    names = {rule.name for rule in rules}
    heads = {head.args[1] for rule in rules if not (rule.name or "").startswith("eq-") for head in rule.heads}
    assert (SAME_AS in heads) == derives
    assert ({"eq-sym", "eq-trans", "eq-rep-s", "eq-rep-p", "eq-rep-o"} <= names) == congruence


OUTSIDE = [
    (":A rdfs:subClassOf [ owl:unionOf ( :B :C ) ] .", "A SubClassOf B or C", "it does not say which"),
    (":A rdfs:subClassOf [ owl:oneOf ( i:x i:y ) ] .", "A SubClassOf {x, y}", "it does not say which"),
    (":p a owl:ReflexiveProperty .", "p ReflexiveProperty", "every term"),
    (":A rdfs:subClassOf [ owl:intersectionOf :nil ] .", "intersectionOf", "the list at"),
    (":A owl:hasKey [ rdf:first :p ] .", "A hasKey", "the list at"),
    (":A rdfs:subClassOf [ owl:unionOf ( :B ) ; owl:intersectionOf ( :C ) ] .", "A SubClassOf", "several definitions"),
    (":A rdfs:subClassOf [ a owl:Restriction ; owl:someValuesFrom :B ] .", "someValuesFrom B", "no owl:onProperty"),
    (":A rdfs:subClassOf _:b . _:b owl:complementOf _:b .", "A SubClassOf", "contains itself"),
    (":A rdfs:subClassOf 5 .", "A SubClassOf", "a literal is not a class"),
    (":p rdfs:subPropertyOf 5 .", "p subPropertyOf", "is a literal, not a property"),
    (
        ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty [ owl:inverseOf :p ] ; owl:hasValue 5 ] .",
        "A",
        "a literal has",
    ),
    (
        "[] a owl:Ontology ; owl:imports <http://example.org/other> .",
        "imports <http://example.org/other>",
        "not fetched",
    ),
    ("[] a owl:NegativePropertyAssertion ; owl:sourceIndividual i:x .", "NegativePropertyAssertion", "is missing"),
    (":D a rdfs:Datatype ; owl:onDatatype xsd:int .", "D onDatatype int", "restricted datatypes"),
    (
        ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:allValuesFrom [ a rdfs:Datatype ;"
        " owl:oneOf ( 1 2 ) ] ] .",
        "p only (a data range)",
        "OWL 2 RL has no rules for it",
    ),
]


@pytest.mark.parametrize(("text", "axiom", "why"), OUTSIDE)
def test_axioms_without_rules_are_listed(text: str, axiom: str, why: str) -> None:
    (outside,) = tidelog.ontology(turtle(text)).outside
    assert axiom in outside.axiom
    assert why in outside.why
    assert str(outside) == f"{outside.axiom}: {outside.why}"


def test_an_import_that_is_given_too_is_not_missed() -> None:
    text = "[] a owl:Ontology ; owl:imports <http://example.org/other> ."
    other = turtle("<http://example.org/other> a owl:Ontology .")
    assert not tidelog.ontology(turtle(text), other).outside


def test_annotations_are_no_facts_but_data_are() -> None:
    text = """:A a owl:Class ; rdfs:label "A" . i:x a :A, owl:NamedIndividual, owl:Thing ; :p 5 .
        [] a owl:Axiom ; owl:annotatedSource i:x ; owl:annotatedProperty :p ; owl:annotatedTarget 5 ; :source "a" ."""
    facts = tidelog.ontology(turtle(text)).facts
    assert [fact.args[1:] for fact in facts] == [
        ("<http://example.org/o#p>", '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<http://example.org/o#A>"),
        ("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<http://www.w3.org/2002/07/owl#Thing>"),
    ]
