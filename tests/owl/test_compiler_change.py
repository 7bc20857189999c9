"""A changed ontology is a change of rules: what both versions say is not touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tidelog
from tests.owl.cases import turtle
from tidelog.owl import Ontology

OLD = """
    :headOf rdfs:subPropertyOf :worksFor . :worksFor rdfs:subPropertyOf :memberOf .
    :Employee owl:equivalentClass [ owl:intersectionOf ( :Person
        [ a owl:Restriction ; owl:onProperty :worksFor ; owl:someValuesFrom :Company ] ) ] .
    :memberOf rdfs:domain :Person . :worksFor rdfs:range :Company .
    :partOf a owl:TransitiveProperty . i:acme a :Company ; :partOf i:group .
"""
PREFIXES = "@prefix o: <http://example.org/o#> . @prefix i: <http://example.org/i#> ."
NEW = OLD.replace(":headOf rdfs:subPropertyOf :worksFor .", "").replace(":partOf i:group", ":partOf i:holding")


def compiled(text: str) -> Ontology:
    return tidelog.ontology(turtle(text))


def company(people: int) -> str:
    """Many workers, and one who is nothing but the head."""
    workers = "".join(f"[i:w{n}, o:worksFor, i:acme] .\n" for n in range(people))
    return f"{PREFIXES}\n{workers} [i:boss, o:headOf, i:acme] ."


def test_only_the_difference_is_handed_over() -> None:
    change = compiled(OLD).changed_to(compiled(NEW))
    assert [rule.name for rule in change["remove_rules"]] == ["headOf SubPropertyOf worksFor"]
    assert [fact.args[2] for fact in change["remove"]] == ["<http://example.org/i#group>"]
    assert [fact.args[2] for fact in change["add"]] == ["<http://example.org/i#holding>"]
    assert change["add_rules"] == []


def test_nothing_changes_for_the_same_ontology() -> None:
    assert not any(compiled(OLD).changed_to(compiled(OLD)).values())


def difference(old: Ontology, new: Ontology) -> dict[str, Any]:
    return {**old.changed_to(new)}


def everything(old: Ontology, new: Ontology) -> dict[str, Any]:
    return {"remove": old.facts, "add": new.facts, "remove_rules": old, "add_rules": new}


WAYS: list[Callable[[Ontology, Ontology], dict[str, Any]]] = [difference, everything]


@pytest.mark.parametrize("way", WAYS)
def test_work_does_not_grow_with_what_stays(way: Callable[[Ontology, Ontology], dict[str, Any]]) -> None:
    few, many = (worked(people, way) for people in (10, 500))
    assert few == many
    assert 0 < many["derivations"] < 50


def worked(people: int, way: Callable[[Ontology, Ontology], dict[str, Any]]) -> dict[str, int]:
    """The work of changing the ontology, when only one person is concerned."""
    old, new = compiled(OLD), compiled(NEW)
    with tidelog.open() as kb:
        kb.apply(add=company(people), add_rules=old)
        kb.apply(add=old.facts)
        change = kb.apply(**way(old, new), algorithm="bf")
        assert sum(str(subject).endswith("boss") for _, subject, *_ in change.removed) == 4
        assert len(kb.query("[?x, rdf:type, <http://example.org/o#Employee>]")) == people
        return change.work.figures()


@pytest.mark.parametrize("way", WAYS)
def test_result_is_that_of_the_new_ontology(way: Callable[[Ontology, Ontology], dict[str, Any]]) -> None:
    old, new = compiled(OLD), compiled(NEW)
    with tidelog.open() as changed, tidelog.open() as fresh:
        changed.apply(add=company(5), add_rules=old)
        changed.apply(add=old.facts)
        changed.apply(**way(old, new))
        fresh.apply(add=company(5), add_rules=new)
        fresh.apply(add=new.facts)
        assert set(changed.all_facts()) == set(fresh.all_facts())
        assert {rule.key for rule in changed.rules} == {rule.key for rule in fresh.rules}
