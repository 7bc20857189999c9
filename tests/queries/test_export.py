"""Exports: what is written is read back, nothing is half written, nothing is replaced unasked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tidelog
from tidelog import formats
from tidelog.errors import InputError, UsageError
from tidelog.model.terms import Term
from tidelog.queries.datalog import Kind

FACTS = '[ann, knows, bob] . [ann, name, "Ann"] . age(ann, 42) . age(bob, 7) . name("x\ty") .'
RULES = "[?y, knows, ?x] :- [?x, knows, ?y] . grown(?x) :- age(?x, ?n), ?n > 17 ."


@pytest.fixture
def kb() -> Iterator[tidelog.KnowledgeBase]:
    with tidelog.open() as opened:
        opened.apply(add=FACTS, add_rules=RULES)
        yield opened


@pytest.mark.parametrize("kind", ["all", "explicit", "derived"])
@pytest.mark.parametrize("format", ["csv", "tsv", "parquet", "delta"])
def test_tables_are_read_back(format: str, kind: Kind, kb: tidelog.KnowledgeBase, tmp_path: Path) -> None:
    written = kb.export(tmp_path / "out", format, kind)
    files = sorted((tmp_path / "out").iterdir())
    assert [each.file for each in written] == [str(file) for file in files]
    with tidelog.open() as again:
        again.load(*files)
        assert sorted(again.all_facts().texts()) == sorted(kb.all_facts(kind).texts())
        assert [each.facts for each in written] == [len(again.facts(each.predicate)) for each in written]


@pytest.mark.parametrize("name", ["a.nt", "a.nt.gz", "a.nq", "a.ttl", "a.trig"])
def test_triples_are_read_back(name: str, kb: tidelog.KnowledgeBase, tmp_path: Path) -> None:
    (written,) = kb.export(tmp_path / "new" / name)
    assert (written.predicate, written.facts, written.left_out) == ("triple", 3, 0)
    with tidelog.open() as again:
        again.load(tmp_path / "new" / name)
        assert sorted(again.all_facts().texts()) == sorted(kb.all_facts().of("triple").texts())


def test_one_relation_is_one_file(kb: tidelog.KnowledgeBase, tmp_path: Path) -> None:
    kb.export(tmp_path / "ages.csv", relations=["age"])
    assert (tmp_path / "ages.csv").read_text() == "ann,42\nbob,7\n"


def test_facts_without_arguments_are_left_out_and_counted(tmp_path: Path) -> None:
    with tidelog.open() as kb:
        kb.apply(add="yes() . p(a) .")
        written = kb.export(tmp_path / "out", "csv")
        assert [(each.predicate, each.facts, each.left_out) for each in written] == [("p", 1, 0), ("yes", 0, 1)]


@pytest.mark.parametrize("format", ["csv", "nt"])
def test_an_interrupted_export_leaves_what_was_there(
    format: str, kb: tidelog.KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / f"out.{format}"
    kb.export(out, format)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    kb.apply(add="age(cid, 1) . [cid, knows, bob] .")

    def interrupted(*arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kb.export(out, format, overwrite=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_old_export_that_cannot_be_replaced_stays(
    kb: tidelog.KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    kb.export(out, "csv")
    rename = Path.rename

    def full(self: Path, target: Path) -> Path:
        if self.suffix == ".part":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(InputError, match="No space left"):
        kb.export(out, "tsv", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert all(path.suffix == ".csv" for path in out.iterdir())


def test_a_folder_with_anything_else_is_not_replaced(kb: tidelog.KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match=r"holds letter\.txt"):
        kb.export(tmp_path, "csv", overwrite=True)
    assert (tmp_path / "letter.txt").exists()


def test_relations_of_a_rule_set_are_its_own(tmp_path: Path) -> None:
    with tidelog.open() as kb:
        members = "[both, owl:intersectionOf, l] . [l, rdf:first, one] . [l, rdf:rest, rdf:nil] . [x, rdf:type, one] ."
        kb.apply(add=members, add_rules=tidelog.rulesets.OWL2RL)
        assert [p for p in kb.all_facts().with_helpers().relations() if p.startswith("urn:tidelog:")]
        assert {each.predicate for each in kb.export(tmp_path / "out", "csv")} == {"triple"}


@pytest.mark.parametrize(("format", "message"), [("delta", "need the deltalake"), ("docx", "unknown format 'docx'")])
def test_formats_that_are_unknown_or_not_installed(
    format: str, message: str, kb: tidelog.KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(UsageError, match=message):
        kb.export(tmp_path / "out", format)
    assert list(tmp_path.iterdir()) == []


def test_only_rdf_keeps_order_and_empty_blocks() -> None:
    rows = [("<a>", "<p>", '"x"'), ('"x"', "<p>", "<a>"), ("_:b", "<p>", "<a>"), ("<a>", "_:b", "<a>")]
    (block,) = formats.blocks_of([tuple(map(Term, row)) for row in rows])
    kept = [column.to_pylist() for column in formats.only_rdf(block)]
    assert kept == [["<a>", "_:b"], ["<p>", "<p>"], ['"x"', "<a>"]]
    assert [len(column) for column in formats.only_rdf([column[:0] for column in block])] == [0, 0, 0]
