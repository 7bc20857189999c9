"""Files of every format: what is written is read back, blank nodes keep apart, nothing half written stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from tidelog import formats
from tidelog.errors import InputError, TidelogError, UsageError
from tidelog.formats.files import file_name
from tidelog.formats.source import blank_scope
from tidelog.formats.writers import TermBlock
from tidelog.model.terms import Term
from tidelog.rules.syntax import Export, Import

TRIPLES = [
    (Term("<http://e/a>"), Term("<http://e/p#b>"), Term("<http://e/c>")),
    (Term("<http://e/a>"), Term("<http://e/p#b>"), Term('"tab\t quote\\" line\\n slash\\\\ é \U0001f600"')),
    (Term("<http://e/a>"), Term("<http://e/p#b>"), Term('"x"@en-gb')),
    (Term("<http://e/a>"), Term("<http://e/p#b>"), Term('"042"^^<http://www.w3.org/2001/XMLSchema#integer>')),
    (Term("<http://e/é>"), Term("<http://e/p#b>"), Term('"x"^^<http://e/type>')),
]
RELATIVE = [(Term("<ann>"), Term("<parent>"), Term("<bob>"))]
ENDINGS = ("nt", "nq", "ttl", "trig", "rdf", "jsonld", "csv", "tsv", "parquet")
EXACT = ("nt", "nq", "ttl", "trig", "parquet")


def read_rows(path: Path, **parameters: object) -> list[tuple[Term, ...]]:
    return [row for batch in formats.read(path, parameters=parameters) for row in batch.rows()]


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_round_trip(ending: str, packed: str, tmp_path: Path) -> None:
    if ending == "parquet" and packed:
        pytest.skip("Parquet is compressed inside")
    rows = TRIPLES + RELATIVE * (ending in EXACT)
    if ending in ("csv", "tsv"):  # cells are guessed: a typed number becomes the number
        rows = [row for row in rows if "042" not in row[2]]
    path = tmp_path / f"a.{ending}{packed}"
    assert formats.write(path, "triple", formats.blocks_of(rows)) == len(rows)
    assert sorted(read_rows(path)) == sorted(rows)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_rows_give_the_same_bytes(ending: str, tmp_path: Path) -> None:
    packed = "" if ending == "parquet" else ".gz"
    for name in ("a", "b"):
        formats.write(tmp_path / f"{name}.{ending}{packed}", "triple", formats.blocks_of(TRIPLES))
    one, other = (path.read_bytes() for path in tmp_path.iterdir())
    assert one == other


def test_quads_round_trip(tmp_path: Path) -> None:
    rows = [(Term("<http://e/g>"), *TRIPLES[0]), (Term("<tag:nemo:defaultgraph>"), *TRIPLES[1])]
    for name in ("a.nq", "a.trig"):
        formats.write(tmp_path / name, "q", formats.blocks_of(rows))
        assert sorted(read_rows(tmp_path / name, graphs=True)) == sorted(rows)
    assert b"defaultgraph" not in (tmp_path / "a.nq").read_bytes()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    def blocks() -> Iterator[TermBlock]:
        yield from formats.blocks_of(TRIPLES)
        raise RuntimeError("the disk is on fire")

    path = tmp_path / "a.nt"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        formats.write(path, "triple", blocks())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


NO_RDF = [
    (("<a>", "<b>"), "p has 2 columns; RDF needs 3, or 4 with the graph first"),
    (('"a"', "<b>", "<c>"), 'p("a", <b>, <c>) is no RDF statement'),
    (("<a>", "_:b", "<c>"), "p(<a>, _:b, <c>) is no RDF statement"),
    (('"g"', "<a>", "<b>", "<c>"), "p(<a>, <b>, <c>) is no RDF statement"),
]


@pytest.mark.parametrize(("row", "message"), NO_RDF)
@pytest.mark.parametrize("ending", ["nt", "ttl", "rdf", "jsonld"])
def test_what_is_no_rdf_is_refused(ending: str, row: tuple[Term, ...], message: str, tmp_path: Path) -> None:
    with pytest.raises(TidelogError) as caught:
        formats.write(tmp_path / f"a.{ending}", "p", formats.blocks_of([row]))
    assert str(caught.value).startswith(message)
    assert not list(tmp_path.iterdir())


def test_rdfxml_needs_names_as_predicates(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="<parent> cannot be a predicate in RDF/XML"):
        formats.write(tmp_path / "a.rdf", "triple", formats.blocks_of(RELATIVE))


def test_an_unwritable_place(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        formats.write(tmp_path / "none" / "a.nt", "triple", formats.blocks_of(TRIPLES))


BLANKS = {
    "nt": "_:b <p> _:c .\n",
    "ttl": "_:b <p> [] .\n",
    "jsonld": '{"@id": "_:b", "http://e/p": {}}\n',
    "rdf": '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://e/">'
    '<r:Description r:nodeID="b"><p><r:Description/></p></r:Description></r:RDF>',
}


@pytest.mark.parametrize("ending", BLANKS)
def test_blank_nodes_belong_to_their_file(ending: str, tmp_path: Path) -> None:
    for folder, content in (("one", BLANKS[ending]), ("same", BLANKS[ending]), ("other", BLANKS[ending] + "\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"a.{ending}").write_text(content)
    (tmp_path / "one" / f"b.{ending}").write_text(BLANKS[ending])
    rows = [read_rows(tmp_path / name) for name in (f"one/a.{ending}", f"same/a.{ending}")]
    assert rows[0] == rows[1] == read_rows(tmp_path / "one" / f"a.{ending}")
    blanks = {rows[0][0][0], rows[0][0][2]}
    assert len(blanks) == 2
    assert all(b.startswith("_:u") for b in blanks)
    for other in (f"other/a.{ending}", f"one/b.{ending}"):
        assert not blanks & set(read_rows(tmp_path / other)[0])


def test_blank_nodes_do_not_depend_on_compression(tmp_path: Path) -> None:
    formats.write(tmp_path / "a.nt", "triple", formats.blocks_of(TRIPLES))
    formats.write(tmp_path / "a.nt.gz", "triple", formats.blocks_of(TRIPLES))
    assert blank_scope(tmp_path / "a.nt") == blank_scope(tmp_path / "a.nt.gz")


def test_relative_iris_and_base(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("<a> <b> <#c> .\n")
    assert read_rows(tmp_path / "a.ttl") == [("<a>", "<b>", "<#c>")]
    assert read_rows(tmp_path / "a.ttl", base="http://e/f") == [("<http://e/a>", "<http://e/b>", "<http://e/f#c>")]


def test_many_statements_come_in_blocks(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("".join(f"<s{i}> <p> _:b{i % 7} .\n" for i in range(70000)))
    batches = list(formats.read(tmp_path / "a.ttl"))
    assert len(batches) == 2
    assert sum(map(len, batches)) == 70000
    assert len({row[2] for batch in batches for row in batch.rows()}) == 7


def directive(format_: str, **parameters: object) -> Import:
    return Import("p", format_, parameters)


def test_import(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n")
    (tmp_path / "a.nq").write_text("<s> <p> <o> <g> .\n")
    (tmp_path / "a.nt").write_text("<s> <p> <o> .\n")

    def rows(import_: Import) -> list[tuple[Term, ...]]:
        return [row for batch in formats.read_import(import_, tmp_path) for row in batch.rows()]

    assert rows(directive("csv", resource="a.csv")) == [("<x>", "<y>")]
    assert rows(directive("csv", resource=Term('"a.csv"'), format=("any", "skip"))) == [("<x>",)]
    assert rows(directive("nquads", resource="a.nq")) == [("<g>", "<s>", "<p>", "<o>")]
    assert rows(directive("rdf", resource="a.nt")) == [("<s>", "<p>", "<o>")]
    assert [b.predicate for b in formats.read_import(directive("ntriples", resource="a.nt"), tmp_path)] == ["p"]


@pytest.mark.parametrize(
    ("import_", "message"),
    [
        (directive("csv"), "@import p names no file; say resource=…"),
        (
            directive("csv", resource="https://e.org/a.csv"),
            "https://e.org/a.csv: tidelog reads nothing",
        ),
        (directive("xls", resource="a.xls"), "unknown format 'xls'"),
    ],
)
def test_wrong_import(import_: Import, message: str, tmp_path: Path) -> None:
    with pytest.raises(TidelogError) as caught:
        list(formats.read_import(import_, tmp_path))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("export", "name"),
    [
        (Export("p", "csv", {}), "p.csv"),
        (Export("p", "ntriples", {"compression": "gzip"}), "p.nt.gz"),
        (Export("p", "csv", {"resource": "sub/q.tsv"}), "sub/q.tsv"),
        (Export("http://e/p", "turtle", {}), "http%3A%2F%2Fe%2Fp.ttl"),
    ],
)
def test_export_path(export: Export, name: str, tmp_path: Path) -> None:
    assert formats.export_path(export, tmp_path) == tmp_path / name


def test_file_names_cannot_leave_the_folder() -> None:
    assert "/" not in file_name("../../etc/passwd")
    assert not file_name("../x").startswith(".")


def test_write_limit(tmp_path: Path) -> None:
    assert formats.write(tmp_path / "a.nt", "triple", formats.blocks_of(TRIPLES), parameters={"limit": 2}) == 2
    assert len(read_rows(tmp_path / "a.nt")) == 2
    assert len(read_rows(tmp_path / "a.nt", limit=1)) == 1


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_relation_without_rows(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"p.{ending}"
    assert formats.write(path, "p", [[pa.array([], pa.binary())] * 3]) == 0
    assert read_rows(path) == []


def test_known_names() -> None:
    assert all(formats.is_known(f"a.{ending}.gz") for ending in ENDINGS)
    assert not formats.is_known("a.docx")
    assert not formats.is_known("a")


def test_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown format 'xls'; known are: rdf, ntriples"):
        formats.read(tmp_path / "a.csv", "xls")


def test_tags_in_text_are_no_nesting(tmp_path: Path) -> None:
    texts = "<r:Description><p><![CDATA[one<br>two<br>]]></p></r:Description>" * 2000
    head = '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://e/">'
    (tmp_path / "a.rdf").write_text(f"{head}{texts}</r:RDF>")
    assert len(read_rows(tmp_path / "a.rdf")) == 2000


SAMPLES = {
    "ttl": b'@prefix e: <http://e/> .\ne:a e:b [ e:c (1 2.5 "x"@en) ; e:d """long\ntext""" ] .\n',
    "trig": b"@prefix e: <http://e/> .\ne:g { e:a e:b e:c } GRAPH <h> { <s> <p> <o> }\n",
    "jsonld": b'{"@context": {"b": "http://e/b"}, "@id": "http://e/a", "b": [1, true, {"@id": "_:x"}]}',
    "rdf": BLANKS["rdf"].encode(),
    "csv": b'a,b\n"c,""d""",1.5\n',
    "nq": b'<s> <p> "o"@en <g> .\n_:a <p> _:b .\n',
}


@pytest.mark.parametrize("ending", SAMPLES)
def test_damaged_files_raise_our_errors_only(ending: str, tmp_path: Path) -> None:
    random = Random(ending)
    path = tmp_path / f"a.{ending}"
    refused = 0
    for _ in range(300):
        content = bytearray(SAMPLES[ending])
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(len(content))
            content[at : at + random.randrange(2)] = random.choice([b"", b"\xff", b'"', b"<", b"\0", b"{", b"[", b"\n"])
        path.write_bytes(content)
        try:
            read_rows(path)
        except TidelogError:
            refused += 1
    assert refused > 50


@pytest.mark.parametrize(
    ("ending", "content"),
    [
        ("ttl", "<a> <b> " + "[ <b> " * 100_000),
        ("ttl", "<a> <b> " + "(" * 100_000),
        ("jsonld", '{"http://e/p": ' * 50_000),
        ("jsonld", "[" * 100_000),
        ("rdf", "<a>" * 50_000),
        ("rdf", "<a>" * 90_000 + "</a>" * 90_000),
    ],
)
def test_deep_nesting_is_refused(ending: str, content: str, tmp_path: Path) -> None:
    (tmp_path / f"a.{ending}").write_text(content)
    with pytest.raises(InputError):
        read_rows(tmp_path / f"a.{ending}")
