"""N-Triples and N-Quads: the bulk reader, the line parser and pyoxigraph say the same of sound and damaged lines."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

import pyoxigraph as ox
import pytest

from tests.formats.mutations import PLAIN, mutated
from tidelog import formats
from tidelog.errors import InputError
from tidelog.formats import source
from tidelog.formats.ntriples import DEFAULT_GRAPH, Dialect, LineError, parse_chunk, parse_line
from tidelog.formats.term_text import canonical
from tidelog.model.terms import Term

QUADS = Dialect("triple", quads=True, columns=(0, 1, 2, 3))
Statements = list[tuple[Term | None, ...]]


def by_line(line: bytes) -> Statements | None:
    try:
        return [(*s, DEFAULT_GRAPH)[:4] for s in parse_line(line, quads=True)]
    except LineError:
        return None


def in_bulk(line: bytes) -> Statements | None:
    parsed = parse_chunk(line + b"\n", QUADS)
    return None if parsed.errors else [row for batch in parsed.batches for row in batch.rows()]


def by_pyoxigraph(line: bytes, lenient: bool) -> Statements | None:
    try:
        return [_terms(quad) for quad in ox.parse(line, ox.RdfFormat.N_QUADS, lenient=lenient)]
    except SyntaxError:
        return None


def _terms(quad: ox.Quad) -> tuple[Term | None, ...]:
    graph = DEFAULT_GRAPH if isinstance(quad.graph_name, ox.DefaultGraph) else canonical(str(quad.graph_name))
    return canonical(str(quad.subject)), canonical(str(quad.predicate)), canonical(str(quad.object)), graph


def is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("seed", range(3))
def test_damaged_lines(seed: int) -> None:
    """Whatever pyoxigraph accepts we accept, with the same terms; what it refuses even when lenient we refuse.

    Between the two lie relative and odd IRIs, which we take by the grammar of N-Triples. Comments must be UTF-8 here.
    """
    random = Random(seed)
    accepted = refused = 0
    for _ in range(1000):
        line = mutated(random)
        ours = by_line(line)
        assert in_bulk(line) == ours, line
        strict, lenient = by_pyoxigraph(line, lenient=False), by_pyoxigraph(line, lenient=True)
        if strict is not None and is_utf8(line):
            assert ours == strict, line
        if ours is not None:
            assert ours == lenient, line
        accepted, refused = accepted + bool(ours), refused + (ours is None)
    assert min(accepted, refused) > 250  # else the damages are too small or too great to test anything


def test_many_lines_at_once() -> None:
    """A whole chunk, sound lines of every shape in random order, gives what its lines give."""
    random = Random(7)
    lines = [random.choice(PLAIN) for _ in range(2000)]
    parsed = parse_chunk(b"\n".join(lines), QUADS)
    found = sorted(row for batch in parsed.batches for row in batch.rows())
    expected = sorted(row for line in lines for row in by_line(line) or [])
    assert parsed.lines == len(lines)
    assert found == expected
    for batch in parsed.batches:
        assert len(set(batch.terms.to_pylist())) == len(batch.terms)


def test_the_first_bad_line_is_reported() -> None:
    chunk = b"\n".join([PLAIN[0]] * 50 + [b"bad"] + [PLAIN[1]] * 5 + [b"worse"])
    (error,) = parse_chunk(chunk, QUADS).errors
    assert error[0] == 50


CANONICAL = [
    ('"x"^^<http://www.w3.org/2001/XMLSchema#string>', '"x"'),
    ('"x"@EN-gb', '"x"@en-gb'),
    (r'"\u0041\t\b\f\'"', '"A\t\b\f\'"'),
    (r'"\n\r\\\""', r'"\n\r\\\""'),
    (r"<http://e/\u00e9>", "<http://e/é>"),
    ("_:é", "_:é"),
    ('"5" ^^ <t>', '"5"^^<t>'),
]


@pytest.mark.parametrize(("text", "term"), CANONICAL)
def test_one_term_one_text(text: str, term: str) -> None:
    line = f"<s> <p> {text} .".encode()
    assert by_line(line) == in_bulk(line) == [("<s>", "<p>", term, DEFAULT_GRAPH)]


def test_terms_that_become_equal_are_one() -> None:
    chunk = b'<s> <p> "x" .\n<s> <q> "x"^^<http://www.w3.org/2001/XMLSchema#string> .\n'
    (batch,) = parse_chunk(chunk, Dialect("triple")).batches
    assert batch.terms.to_pylist() == [b"<s>", b"<p>", b'"x"', b"<q>"]
    assert batch.rows() == [("<s>", "<p>", '"x"'), ("<s>", "<q>", '"x"')]


def test_refused_terms_leave_no_trace() -> None:
    parsed = parse_chunk(b'<s> <p> <o> .\n<s> <p> "\\q" .\n', Dialect("triple"))
    assert parsed.errors
    assert all(b"\\q" not in batch.terms.to_pylist() for batch in parsed.batches)


def test_chunks_and_threads_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f'<http://e/s{i % 97}> <http://e/p{i % 5}> "{i}" .' for i in range(5000)]
    lines[1234] = f"\t{lines[1234]} # odd"
    (tmp_path / "a.nt").write_text("\n".join(lines))
    (tmp_path / "a.nt.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    whole = [row for batch in formats.read(tmp_path / "a.nt") for row in batch.rows()]
    monkeypatch.setattr(source.whole_lines, "__defaults__", (4096,))
    for name in ("a.nt", "a.nt.gz"):
        batches = list(formats.read(tmp_path / name))
        assert len(batches) > 40
        assert sorted(row for batch in batches for row in batch.rows()) == sorted(whole)
    assert len(set(whole)) == 5000


def test_line_numbers_across_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source.whole_lines, "__defaults__", (256,))
    (tmp_path / "a.nt").write_text("<s> <p> <o> .\n" * 777 + "bad\n" + "<s> <p> <o> .\n" * 777)
    with pytest.raises(InputError, match=r"a\.nt:778:1: expected a subject"):
        list(formats.read(tmp_path / "a.nt"))


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(source.whole_lines, "__defaults__", (1 << 16,))
    (tmp_path / "a.nt.gz").write_bytes(gzip.compress(b"<s> <p> <o> .\n" + b"<" * (1 << 24)))
    with pytest.raises(InputError, match=r"a\.nt\.gz:2: a line is longer than 1 MB; is this a text file\?"):
        list(formats.read(tmp_path / "a.nt.gz"))


def test_a_cut_gzip_file(tmp_path: Path) -> None:
    packed = gzip.compress(b"<s> <p> <o> .\n" * 9999)
    (tmp_path / "a.nt.gz").write_bytes(packed[:-20])
    with pytest.raises(InputError, match="not a complete gzip file"):
        list(formats.read(tmp_path / "a.nt.gz"))


def test_gzip_is_recognised_without_its_ending(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_bytes(gzip.compress(b"<s> <p> <o> .\n"))
    assert [b.rows() for b in formats.read(tmp_path / "a.nt")] == [[("<s>", "<p>", "<o>")]]


QUAD_LINES = '<s> <p> "a b" <g> .\n<s> <p> "a b" .\n<s> <p> <o> _:g .\n'


def test_named_graphs(tmp_path: Path) -> None:
    path = tmp_path / "a.nq"
    path.write_text(QUAD_LINES)
    blank = f"_:u{source.blank_scope(path)}_g"
    dropped = [row for batch in formats.read(path) for row in batch.rows()]
    assert sorted(dropped) == [("<s>", "<p>", '"a b"'), ("<s>", "<p>", '"a b"'), ("<s>", "<p>", "<o>")]
    kept = [row for batch in formats.read(path, predicate="q", parameters={"graphs": True}) for row in batch.rows()]
    assert sorted(kept) == [
        ("<g>", "<s>", "<p>", '"a b"'),
        (DEFAULT_GRAPH, "<s>", "<p>", '"a b"'),
        (blank, "<s>", "<p>", "<o>"),
    ]
    objects = formats.read(path, parameters={"graphs": True, "format": ("skip", "skip", "skip", "any")})
    assert sorted(row for batch in objects for row in batch.rows()) == [('"a b"',), ('"a b"',), ("<o>",)]


def test_the_dropped_graph_is_not_interned(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text(QUAD_LINES)
    terms = {t for batch in formats.read(tmp_path / "a.nq") for t in batch.terms.to_pylist()}
    assert terms == {b"<s>", b"<p>", b'"a b"', b"<o>"}


def test_an_old_macintosh_file(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_bytes(b"<s> <p> <o> .\r# comment\r<s> <p> <q> .\r")
    (batch,) = formats.read(tmp_path / "a.nt")
    assert batch.rows() == [("<s>", "<p>", "<o>"), ("<s>", "<p>", "<q>")]
