"""The prefixes of RDF files are kept with the knowledge base; the first meaning of a prefix stays."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from tidelog.errors import UsageError

FILES = {
    "a.ttl": "@prefix ex: <http://e/> . PREFIX other: <http://o/>\n@prefix : <http://d/> . ex:a ex:b :c .",
    "a.trig": "@prefix ex: <http://e/> . @prefix other: <http://o/> . @prefix : <http://d/> . ex:g { ex:a ex:b :c }",
    "a.n3": "@prefix ex: <http://e/> . @prefix other: <http://o/> . @prefix : <http://d/> . ex:a ex:b :c .",
    "a.rdf": '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="http://e/" '
    'xmlns:other="http://o/" xmlns="http://d/"><r:Description r:about="http://e/a"><ex:b r:resource="http://d/c"/></r:Description></r:RDF>',
    "a.owl": '<!DOCTYPE r:RDF [<!ENTITY ex "http://e/">]><r:RDF xmlns:ex="&ex;" xmlns:other="http://o/" '
    'xmlns="http://d/" xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<r:Description r:about="&ex;a"><ex:b r:resource="http://d/c"/></r:Description></r:RDF>',
    "a.jsonld": '{"@context": {"ex": "http://e/", "other": "http://o/", "d": "http://d/"}, "@id": "ex:a", '
    '"ex:b": {"@id": "d:c"}}',
}
DECLARED = {"ex": "http://e/", "other": "http://o/", "": "http://d/"}


@pytest.mark.parametrize("name", FILES)
def test_prefixes_of_files_are_kept(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    with tidelog.open(tmp_path / "x.kb") as kb:
        assert kb.load(tmp_path / name).notes == ()
    with tidelog.open(tmp_path / "x.kb") as kb:
        found = {p: iri for p, iri in kb.prefixes.items() if p != "r"}
        assert found == (
            DECLARED if name != "a.jsonld" else {"ex": "http://e/", "other": "http://o/", "d": "http://d/"}
        )
        assert [str(o) for (o,) in kb.query("[ex:a, ex:b, ?o]")] == ["http://d/c"]
        assert kb.sparql("ASK { ex:a ex:b <http://d/c> }")
        kb.apply(add_rules="[?x, other:r, ?y] :- [?x, ex:b, ?y] .")
        assert "[ex:a, other:r, " in str(kb.explain("[ex:a, other:r, <http://d/c>]"))


def test_the_first_meaning_stays_and_a_note_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("@prefix ex: <http://one/> . ex:a ex:a ex:a .")
    (tmp_path / "b.ttl").write_text("@prefix ex: <http://two/> . @prefix new: <http://n/> . ex:a ex:a ex:a .")
    with tidelog.open() as kb:
        assert kb.load(tmp_path / "a.ttl").notes == ()
        assert kb.load(tmp_path / "b.ttl").notes == (
            f"{tmp_path / 'b.ttl'}: the prefix ex: stays <http://one/>; this file has <http://two/>",
        )
        assert kb.prefixes == {"ex": "http://one/", "new": "http://n/"}
        assert len(kb.query("[<http://two/a>, ?p, ?o]")) == 1
        kb.apply(add="@prefix ex: <http://three/> .")
        assert kb.prefixes["ex"] == "http://three/"


def test_many_clashes_are_counted(tmp_path: Path) -> None:
    for name in ("one", "two"):
        declared = "".join(f"@prefix p{i}: <http://{name}/{i}> .\n" for i in range(20))
        (tmp_path / f"{name}.ttl").write_text(declared)
    with tidelog.open() as kb:
        notes = kb.load(tmp_path / "one.ttl", tmp_path / "two.ttl").notes
    assert len(notes) == 6
    assert notes[-1] == "15 more prefixes stay as they are"


def test_prefixes_that_rules_cannot_use_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("@prefix a.b: <http://a/> . @prefix ex: <#> . @prefix x: <u:> .")
    with tidelog.open() as kb:
        kb.load(tmp_path / "a.ttl")
        assert kb.prefixes == {"x": "u:"}


def test_only_the_facts_that_are_added_bring_prefixes(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(FILES["a.ttl"])
    with tidelog.open() as kb:
        kb.apply(remove=tmp_path / "a.ttl")
        assert kb.prefixes == {}
        kb.apply(add=tmp_path / "a.ttl")
        assert kb.prefixes == DECLARED


def test_well_known_prefixes_need_no_declaration() -> None:
    with tidelog.open() as kb:
        kb.apply(
            add='[ann, foaf:name, "Ann"] . [ann, dcterms:creator, bob] .',
            add_rules="[?x, schema:author, ?y] :- [?x, dcterms:creator, ?y] .",
        )
        assert len(kb.query("[?x, schema:author, ?y], [?x, foaf:name, ?n]")) == 1
        assert kb.sparql("ASK { ?x foaf:name ?n ; <http://schema.org/author> ?y }")
        assert kb.prefixes == {}
        assert "[ann, schema:author, bob]" in str(kb.explain("[ann, schema:author, bob]"))
        assert (
            str(kb.rules[0]) == "[?x, <http://schema.org/author>, ?y] :- [?x, <http://purl.org/dc/terms/creator>, ?y] ."
        )


def test_a_declared_prefix_replaces_the_well_known_one() -> None:
    with tidelog.open() as kb:
        kb.declare({"foaf": "http://mine/"})
        kb.apply(add="[ann, foaf:name, bob] . [ann, <http://xmlns.com/foaf/0.1/name>, cid] .")
        assert list(kb.query("[ann, foaf:name, ?x]")) == [("bob",)]
        assert kb.sparql("ASK { <ann> foaf:name <bob> }")
        assert not kb.sparql("ASK { <ann> foaf:name <cid> }")
        texts = sorted(kb.all_facts().texts(kb.prefixes))
        assert texts == ["[ann, <http://xmlns.com/foaf/0.1/name>, cid] .", "[ann, foaf:name, bob] ."]


def test_declare() -> None:
    with tidelog.open() as kb:
        kb.declare({"ex": "http://e/", "": "http://d/"})
        kb.declare({"ex": "http://f/", "": None})
        assert kb.prefixes == {"ex": "http://f/"}
        with pytest.raises(UsageError, match=r"^the prefix no: is not declared; declared are: ex:$"):
            kb.declare({"no": None})
        for prefix, iri in (("a b", "http://e/"), ("x", "nonsense"), ("x", "http://a b/"), ("1", "http://e/")):
            with pytest.raises(UsageError, match="is no prefix; expected a name and an IRI"):
                kb.declare({prefix: iri})
