"""Updates: what a request changes, from `updates.txt`, and LOAD, which needs files."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest

import tidelog
from tests.owl.cases import Case, read_cases
from tests.queries.sparql.bags import Row, same
from tests.queries.sparql.expected import term
from tidelog.errors import InputError, TidelogError, UsageError
from tidelog.model.terms import TRIPLE, Fact, to_term
from tidelog.queries.answers import FactAnswers

NAMESPACE = "http://example.org/"
CASES = list(read_cases(Path(__file__).parent / "updates.txt"))


def turtle(text: str) -> list[Row]:
    parsed = ox.parse(f"@prefix : <{NAMESPACE}> . {text}".encode(), ox.RdfFormat.TURTLE)
    return [(term(t.subject), term(t.predicate), term(t.object)) for t in parsed]


def rows(facts: FactAnswers) -> list[Row]:
    return [tuple(map(to_term, args)) for _, *args in facts]


def prepared(case: Case) -> tidelog.KnowledgeBase:
    kb = tidelog.open()
    before = [Fact(TRIPLE, tuple(filter(None, row))) for row in turtle(case.fields.get("before", ""))]
    kb.apply(add=before, add_rules=f"@prefix : <{NAMESPACE}> . {case.fields.get('rules', '')}")
    return kb


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case) -> None:
    with prepared(case) as kb:
        before = sorted(map(str, kb.all_facts())), kb.version
        if "error" in case.fields:
            with pytest.raises(TidelogError) as error:
                kb.update(case.fields["request"])
            assert case.fields["error"] in str(error.value)
            assert (sorted(map(str, kb.all_facts())), kb.version) == before
            return
        tried = kb.update(case.fields["request"], dry_run=True)
        assert (sorted(map(str, kb.all_facts())), kb.version) == before
        change = kb.update(case.fields["request"])
        assert kb.version == before[1] + bool(change.added or change.removed)  # no effect, no version
        for found in (tried, change):
            assert same(rows(found.added), turtle(case.fields.get("added", "")))
            assert same(rows(found.removed), turtle(case.fields.get("removed", "")))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a b.ttl").write_text(f"@prefix : <{NAMESPACE}> . :a :p :b , [] .")
    (tmp_path / "data" / "table.csv").write_text("1,2,3\n")
    (tmp_path / "data" / "wrong.nt").write_text("<a> <b>\n")
    (tmp_path / "secret.nt").write_text("<a> <b> <c> .\n")
    (tmp_path / "data" / "link.nt").symlink_to(tmp_path / "secret.nt")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("allow", ["data", "data/a b.ttl", "."])
@pytest.mark.parametrize("iri", ["data/a%20b.ttl", "file://{folder}/data/a%20b.ttl", "data/../data/a%20b.ttl"])
def test_load(folder: Path, iri: str, allow: str) -> None:
    with tidelog.open() as kb:
        kb.apply(add_rules=f"@prefix : <{NAMESPACE}> . [?y, :of, ?x] :- [?x, :p, ?y] .")
        change = kb.update(f"LOAD <{iri.format(folder=folder)}>", allow=[folder / allow])
        assert same(rows(change.added), turtle(":a :p :b , _:x . :b :of :a . _:x :of :a ."))


def test_a_later_operation_sees_what_was_loaded(folder: Path) -> None:
    with tidelog.open() as kb:
        change = kb.update(
            "LOAD <data/a%20b.ttl> ; DELETE { ?x ?p ?y } WHERE { ?x ?p ?y FILTER isBlank(?y) }", allow=[folder]
        )
        assert same(rows(change.added), turtle(":a :p :b ."))


@pytest.mark.parametrize(
    ("iri", "message"),
    [
        ("secret.nt", "say which files"),
        ("data/../secret.nt", "say which files"),
        ("data/link.nt", "say which files"),
        ("data/table.csv", "it takes RDF"),
        ("https://example.org/data/a.ttl", "nothing from the network"),
        ("file://example.org/data/a.ttl", "nothing from the network"),
        ("data/wrong.nt", "wrong.nt:1"),
        ("data/nothing.ttl", "no such file"),
        ("data/unknown", "known endings"),
    ],
)
def test_load_is_refused(folder: Path, iri: str, message: str) -> None:
    with tidelog.open() as kb:
        with pytest.raises((InputError, UsageError), match=message):
            kb.update(f"INSERT DATA {{ <a> <b> <c> }} ; LOAD <{iri}>", allow=["data"])
        assert kb.version == 0
        assert len(kb.update(f"INSERT DATA {{ <a> <b> <c> }} ; LOAD SILENT <{iri}>", allow=["data"]).added) == 1


def test_on_disk(tmp_path: Path) -> None:
    """A request is one version, with its message."""
    with tidelog.open(tmp_path / "x.kb") as kb:
        kb.update("INSERT DATA { <a> <p> <b> } ; INSERT { ?y <q> ?x } WHERE { ?x <p> ?y }", message="both")
    with tidelog.open(tmp_path / "x.kb", read_only=True) as kb:
        assert [(v.version, v.message, v.added) for v in kb.versions()] == [(1, "both", 2)]
        assert kb.verify(recompute=True).ok
        assert len(kb.update("CLEAR ALL", dry_run=True).removed) == 2
        with pytest.raises(UsageError, match="read only"):
            kb.update("CLEAR ALL")


def test_what_another_process_wrote_is_seen(tmp_path: Path) -> None:
    with tidelog.open(tmp_path / "x.kb") as late:
        with tidelog.open(tmp_path / "x.kb") as early:
            early.update("INSERT DATA { <a> <p> <b> }")
        assert len(late.update("DELETE WHERE { ?x ?p ?y }").removed) == 1


def test_equality_by_rewriting() -> None:
    """Patterns match all names; what is deleted are the facts as they were stated."""
    with tidelog.open(equality="rewriting") as kb:
        kb.apply(add="[a, owl:sameAs, b] . [a, p, c] . [d, p, b] .")
        change = kb.update("INSERT { ?x <seen> true } WHERE { ?x <p> <c> }")
        assert {row[1] for row in change.added} == {"a", "b"}
        kb.update(
            "DELETE WHERE { ?x <p> <c> } ; INSERT { <it> <has> ?n } WHERE { SELECT (COUNT(*) AS ?n) { ?x <p> ?y } }"
        )
        assert sorted(kb.query("[it, has, ?n]")) == [(2,)]  # d p a, d p b
