"""Ingest in this process: however the work is cut, the same ids and shards, and the facts of the local loader."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from tests.engines.spark.ingest.ingested import Outcome, here, loaded, outcome
from tidelog import formats, tuning
from tidelog.changes.inputs import read_facts, read_files
from tidelog.dictionary import Dictionary
from tidelog.engines.spark.cluster.cluster import InProcess
from tidelog.engines.spark.ingest.ingest import IngestSource
from tidelog.engines.spark.sharded import shard_files
from tidelog.errors import InputError, UsageError
from tidelog.formats import FrameSource, RemoteSource, objects
from tidelog.formats import source as source_module
from tidelog.model.terms import Fact, Term

HUGE = "x" * 3_000
NT = """\
<http://e/a> <http://e/knows> <http://e/b> .
<http://e/a> <http://e/knows> <http://e/b> .
# a comment

_:x <http://e/knows> <http://e/a> .
<http://e/a>\t<http://e/name> "Jürgen \\u263A \\"x\\""@DE .
<http://e/b> <http://e/name> "日本語 😀" .
<http://e/b> <http://e/age> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://e/b> <http://e/knows> _:x .
"""
NQ = """\
<http://e/a> <http://e/p> "1" <http://e/g> .
<http://e/a> <http://e/p> "1" .
_:y <http://e/p> _:y _:g .
"""
TTL = """\
@prefix : <http://e/> .
:a :p [ :q "x", 2.5 ], :b ; a :C .
_:l :p _:l .
"""
XML = """\
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://e/">
  <rdf:Description rdf:about="http://e/a"><p rdf:nodeID="n"/><q>text</q></rdf:Description>
</rdf:RDF>
"""
TRIG = "<http://e/g> { <http://e/a> <http://e/p> _:x . } <http://e/a> <http://e/p> <http://e/c> ."
JSONLD = '{"@id": "http://e/a", "http://e/p": [{"@id": "http://e/b"}, "x"]}'
CSV = 'ann,42\nbob,"a, b"\n<http://e/x>,1.50\nann,42\n'

TEXTS = {
    "plain.nt": NT,
    "crlf.nt": NT.replace("\n", "\r\n"),
    "unended.nt": NT.rstrip("\n"),
    "empty.nt": "",
    "comment.nt": "# nothing\n",
    "blank.nt": "\n\n\n",
    "huge.nt": f'<a> <p> "{HUGE}" .\n<b> <p> "{HUGE}y" .\n<c> <p> <d> .\n',
    "quads.nq": NQ,
    "some.ttl": TTL,
    "some.rdf": XML,
    "entities.owl": f'<!DOCTYPE rdf:RDF [<!ENTITY e "http://e/">]>{XML.replace("http://e/", "&e;")}',
    "turtle.owl": TTL,
    "mark.nt": f"\ufeff{NT}",
    "mark.ttl": f"\ufeff{TTL}",
    "some.trig": TRIG,
    "some.jsonld": JSONLD,
    "age.csv": CSV,
    "age.tsv": CSV.replace(",", "\t"),
    "empty.csv": "",
    "mark in (1).csv": "\ufeffann,42",
    "age.facts": "ann\t42",
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a file of every kind."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_bytes(text.encode())
    (folder / "zipped.nt.gz").write_bytes(gzip.compress(NT.encode()))
    (folder / "disguised.nt").write_bytes(gzip.compress(NT.encode()))
    table = pa.table({"name": ["ann", "bob", "cid"] * 40, "n": list(range(120)), "x": [0.5, 1.5, 2.5] * 40})
    parquet.write_table(table, folder / "measured.parquet", row_group_size=16)
    return folder


def sources_of(folder: Path) -> list[formats.FactFile]:
    return [formats.read(path) for path in sorted(folder.iterdir())]


@pytest.mark.parametrize("name", [*TEXTS, "zipped.nt.gz", "disguised.nt", "measured.parquet"])
@pytest.mark.parametrize("split_size", [None, 19, 100])
def test_a_file_gives_the_facts_of_the_local_loader(name: str, split_size: int | None, data: Path) -> None:
    source = formats.read(data / name)
    assert here([source], data.parent / "scratch", split_size=split_size).facts() == loaded([source])


def test_all_kinds_at_once(data: Path) -> None:
    sources = sources_of(data)
    found = here(sources, data.parent / "scratch", split_size=64)
    assert found.facts() == loaded(sources)
    assert sum(found.counts().values()) == len(found.facts())
    assert found.ingested.arities == {"triple": 3, "age": 2, "mark_in_1": 2, "measured": 3}


def variants(sources: list[formats.FactFile], scratch: Path) -> dict[str, Outcome]:
    """The same input with other cuts, other numbers of tasks, and its files in another order."""
    return {
        "one": here(sources, scratch, 1),
        "two": here(sources, scratch, 2, 300),
        "five": here(sources, scratch, 5, 40),
        "backwards": here(sources[::-1], scratch, 2, 100),
        "a bucket each": here(sources, scratch, 64, 1000),
    }


def test_ids_and_shards_depend_on_the_facts_alone(data: Path) -> None:
    first, *others = variants(sources_of(data), data.parent / "scratch").values()
    assert len(first.terms()) > 50
    for other in others:
        assert other.terms() == first.terms()
        assert other.shards() == first.shards()


@pytest.mark.parametrize("name", ["plain.nt", "crlf.nt", "unended.nt", "quads.nq"])
def test_a_file_may_be_cut_anywhere(name: str, data: Path) -> None:
    source = formats.read(data / name)
    size = source.size
    whole = [row for batch in source for row in batch.rows()]
    for cut in range(size + 1):
        parts = [row for span in ((0, cut), (cut, size)) for batch in source.batches(span) for row in batch.rows()]
        assert sorted(parts) == sorted(whole), cut


def test_facts_are_at_home_and_sorted(data: Path) -> None:
    found = here(sources_of(data), data.parent / "scratch")
    for shard, piece in enumerate(found.ingested.shard_files):
        for rows in shard_files.read(piece.path).all_rows():
            ids = np.asarray(rows.key_column(0))
            assert (shard_files.shards_of_ids(ids, 3) == shard).all()
            words = list(zip(*rows.rows.tolist(), strict=True))
            assert words == sorted(set(words))


def test_terms_that_are_known_keep_their_ids(data: Path) -> None:
    dictionary = Dictionary()
    first = outcome(InProcess(2), [formats.read(data / "plain.nt")], data.parent / "scratch", dictionary)
    before = first.terms()
    sources = sources_of(data)
    second = outcome(InProcess(3), sources, data.parent / "scratch", dictionary, split_size=50)
    assert second.terms()[: len(before)] == before
    assert len(set(second.terms())) == len(second.terms())
    assert second.facts() == loaded(sources)


def test_the_same_again_adds_no_term(data: Path) -> None:
    dictionary = Dictionary()
    once = outcome(InProcess(2), sources_of(data), data.parent / "scratch", dictionary)
    again = outcome(InProcess(2), sources_of(data), data.parent / "scratch", dictionary)
    assert sum(t.count for t in once.ingested.terms) == len(dictionary)
    assert sum(t.count for t in again.ingested.terms) == 0
    assert again.shards() == once.shards()


def test_only_pieces_are_left_behind(data: Path) -> None:
    scratch = data.parent / "scratch"
    found = here(sources_of(data), scratch)
    assert {str(p) for p in scratch.iterdir()} == {piece.path for piece in found.ingested.shard_files}


def test_nothing_is_a_set_of_facts_too(tmp_path: Path) -> None:
    found = here([], tmp_path / "scratch")
    assert (found.facts(), found.terms(), len(found.ingested.shard_files)) == (set(), [], 3)


def test_small_sections_and_small_parcels(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = here(sources_of(data), data.parent / "scratch", 1)
    monkeypatch.setattr(tuning, "CHUNK_ROWS", 3)
    monkeypatch.setattr(tuning, "TERM_MESSAGE_BYTES", 100)
    monkeypatch.setattr(objects, "_ROWS", 10)
    monkeypatch.setattr(tuning, "ROUTE_ROWS", 10)
    monkeypatch.setattr(tuning, "NEW_TERMS_BYTES", 100)
    found = here(sources_of(data), data.parent / "scratch", 2)
    assert (found.terms(), found.shards()) == (expected.terms(), expected.shards())


def test_many_predicates_and_many_shards(tmp_path: Path) -> None:
    lines = [f"<s{i}> <p{i % 700}> <o{i % 3}> .\n" for i in range(2000)]
    (tmp_path / "a.nt").write_text("".join(lines))
    source = formats.read(tmp_path / "a.nt")
    found = outcome(InProcess(2), [source], tmp_path / "scratch", shards=100)
    assert found.facts() == loaded([source])
    assert len(found.counts()) == 700
    assert sum(1 for shard in found.shards() if shard) == 100


class Table:
    """Enough of a DataFrame for tasks in this process."""

    def __init__(self, table: pa.Table, marked: Sequence[str] = ()) -> None:
        self.table = table
        marks = [{"tidelog": "terms"} if name in marked else None for name in table.column_names]
        self.schema = SimpleNamespace(fields=[SimpleNamespace(metadata=mark) for mark in marks])

    def toArrow(self) -> pa.Table:  # noqa: N802
        return self.table


def test_a_data_frame_is_a_relation(data: Path) -> None:
    table = pa.table({"s": ["a", "b", "b"] * 10, "n": [1, 2, 2] * 10})
    sources: list[IngestSource] = [FrameSource("edge", Table(table)), formats.read(data / "age.csv")]
    sources.append(FrameSource("point", Table(pa.table({"x": [1.5], "y": [True], "z": ["a b"]}))))
    sources.append(FrameSource("term", Table(pa.table({"t": ['"x"@en'], "u": ["<a>"]}), ["t"])))
    found = here(sources, data.parent / "scratch")
    assert found.facts() == loaded(sources)
    assert found.ingested.arities == {"edge": 2, "age": 2, "point": 3, "term": 2}
    assert Fact("term", (Term('"x"@en'), Term('"<a>"'))) in found.facts()


# Bad lines.

BAD = """\
<a> <p> <b> .
<a> <p> .
<b> <p> <c> .
<c> <p> "open .
<d> p <e> .
<e> <p> <f> .
"""


@pytest.mark.parametrize("split_size", [None, 10, 25])
def test_a_bad_line_is_named_as_the_local_loader_names_it(split_size: int | None, tmp_path: Path) -> None:
    (tmp_path / "bad.nt").write_text(NT + BAD)
    source = formats.read(tmp_path / "bad.nt")
    with pytest.raises(InputError) as expected:
        list(source)
    with pytest.raises(InputError) as found:
        here([source], tmp_path / "scratch", split_size=split_size)
    assert str(found.value) == str(expected.value)
    assert f"bad.nt:{NT.count(chr(10)) + 2}:9: expected an object" in str(found.value)
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize("split_size", [None, 10, 500])
def test_a_line_without_end_is_refused(split_size: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "LONGEST_LINE", 1000)
    monkeypatch.setattr(source_module.whole_lines, "__defaults__", (100,))
    (tmp_path / "long.nt").write_text(f'{NT}<a> <p> "{HUGE}" .\n')
    with pytest.raises(InputError, match=rf"long\.nt:{NT.count(chr(10)) + 1}: a line is longer"):
        here([formats.read(tmp_path / "long.nt")], tmp_path / "scratch", split_size=split_size)


@pytest.mark.parametrize("split_size", [None, 10, 25])
@pytest.mark.parametrize("bad_lines", ["skip", "quarantine"])
def test_bad_lines_are_left_out_and_counted(bad_lines: str, split_size: int | None, tmp_path: Path) -> None:
    (tmp_path / "bad.nt").write_text(BAD)
    (tmp_path / "p.csv").write_text('1,2\n3\n"4\n4",5\n6,7,8\n')
    out = tmp_path / "bad.jsonl" if bad_lines == "quarantine" else None
    found = outcome(
        InProcess(2),
        [formats.read(tmp_path / name) for name in ("bad.nt", "p.csv")],
        tmp_path / "scratch",
        bad_lines=bad_lines,
        quarantine=out,
        split_size=split_size,
    )
    texts = {tuple(str(t) for t in f.args) for f in found.facts() if f.predicate == "triple"}
    assert texts == {("<a>", "<p>", "<b>"), ("<b>", "<p>", "<c>"), ("<e>", "<p>", "<f>")}
    assert found.ingested.bad == 5
    if out is not None:
        records = [json.loads(line) for line in out.read_text().splitlines()]
        where = [(Path(r["file"]).name, r["line"], r["text"]) for r in records]
        lines = BAD.splitlines()
        assert where[:3] == [("bad.nt", n, lines[n - 1]) for n in (2, 4, 5)]
        assert where[3:] == [("p.csv", 2, "3"), ("p.csv", 5, "6,7,8")]
        assert records[3]["reason"] == "expected 2 cells, found 1: '3'"


def test_the_local_reader_leaves_out_the_same_lines(tmp_path: Path) -> None:
    (tmp_path / "bad.nt").write_text(BAD)
    refused = formats.BadLineCollector()
    rows = [row for batch in formats.read(tmp_path / "bad.nt").skipping_bad_lines(refused) for row in batch.rows()]
    assert (len(rows), refused.count) == (3, 3)


MALFORMED = {
    "missing.nt": "no such file",
    "broken.ttl": "broken.ttl:1",
    "short.nt.gz": "not a complete gzip file",
    "no.parquet": "not a readable Parquet file",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_files_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "broken.ttl").write_text("<a> <b> ;;; <c")
    (tmp_path / "short.nt.gz").write_bytes(gzip.compress(NT.encode())[:-9])
    (tmp_path / "no.parquet").write_bytes(b"PAR1")
    source = formats.read(tmp_path / name)
    with pytest.raises(InputError, match=MALFORMED[name]) as found:
        here([source], tmp_path / "scratch")
    with pytest.raises(InputError) as expected:
        list(source)
    assert str(found.value) == str(expected.value)


def test_a_relation_has_one_number_of_columns(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("1,2\n")
    (tmp_path / "p.tsv").write_text("1\t2\t3\n")
    with pytest.raises(InputError, match="p has 2 arguments elsewhere, but this data gives it 3 columns"):
        here([formats.read(tmp_path / name) for name in ("p.csv", "p.tsv")], tmp_path / "scratch")


URLS = ["hdfs://host/data/*.nt", "s3a://bucket/a.ttl", "abfss://c@account/x.csv"]


@pytest.mark.parametrize("url", URLS)
def test_urls_are_left_to_spark(url: str) -> None:
    assert read_files([url]).batches == read_facts(url).batches == [RemoteSource(url)]
    with pytest.raises(UsageError, match=r'only Spark reads .*://; use engine="spark" on a cluster'):
        list(RemoteSource(url))
