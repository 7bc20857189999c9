"""RDF/XML with entities, document types and other encodings gives the same triples as plain RDF/XML in UTF-8."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

import tidelog
from tidelog import formats
from tidelog.errors import InputError

UOBM = Path(__file__).parents[3] / "shared/uobm/univ-bench-dl.owl"
PLAIN = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://e/" xml:base="http://e/">
<rdf:Description rdf:about="http://e/a/é"><p rdf:datatype="http://e/é">one http://e/ &lt; "two" ' &amp;ex;</p>
<q rdf:parseType="Literal"><b x="http://e/"/> http://e/ <!-- kept --> &amp;</q></rdf:Description></rdf:RDF>
"""
DECLARED = """
 <!-- <!ENTITY ex "http://wrong/"> -->
 <!ENTITY ex 'http://e/' >
 <!ENTITY exa "&ex;a/" >
 <!ENTITY ex "http://second/" >
 <!ENTITY eacute "&#233;" ><!ELEMENT p (b)><!-- "> -->
"""
BODY = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="&ex;" xml:base="&ex;">
<rdf:Description rdf:about="&exa;&eacute;"><p rdf:datatype='&ex;é'>one &ex;<!-- x --> &lt; "two" ' <![CDATA[&ex;]]></p>
<q rdf:parseType="Literal"><b x="&ex;"></b> &ex; <!-- kept --> &amp;</q></rdf:Description></rdf:RDF>
"""
SAME = {
    "entities": f'<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [{DECLARED}]>\n{BODY}'.encode(),
    "a byte order mark": f"\ufeff<!DOCTYPE rdf:RDF [{DECLARED}]>\n{BODY}".encode(),
    "an external document type": f'<!DOCTYPE rdf:RDF PUBLIC "-//X//" "http://e/x.dtd" [{DECLARED}]>\n{BODY}'.encode(),
    "Latin-1": PLAIN.replace("?>", " encoding='ISO-8859-1' ?>", 1).encode("latin-1"),
    "Windows-1252": PLAIN.replace("?>", ' encoding="windows-1252"?>', 1).encode("cp1252"),
    "UTF-16": PLAIN.replace("?>", ' encoding="UTF-16"?>', 1).encode("utf-16"),
    "UTF-16 and entities": f"<!DOCTYPE rdf:RDF [{DECLARED}]>\n{BODY}".encode("utf-16"),
    "UTF-8 with its name": PLAIN.replace("?>", ' encoding="utf8"?>', 1).encode(),
    "a long comment first": f"<!--{'x' * 1_100_000}--><!DOCTYPE rdf:RDF [{DECLARED}]>\n{BODY}".encode(),
    "gzip": gzip.compress(f"<!DOCTYPE rdf:RDF [{DECLARED}]>\n{BODY}".encode()),
}


def rows(path: Path) -> list[tuple[str, ...]]:
    return sorted(row for batch in formats.read(path) for row in batch.rows())


@pytest.mark.parametrize("case", SAME)
def test_the_same_triples_as_plain_rdfxml(case: str, tmp_path: Path) -> None:
    (tmp_path / "plain.rdf").write_text(PLAIN, encoding="utf-8")
    (tmp_path / "a.rdf").write_bytes(SAME[case])
    assert rows(tmp_path / "a.rdf") == rows(tmp_path / "plain.rdf")
    assert len(rows(tmp_path / "a.rdf")) == 2


def lol(levels: int) -> str:
    nested = "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(levels))
    return f'<!DOCTYPE x [<!ENTITY a0 "lollollol">{nested}]><x><p>&a{levels};</p></x>'


def quadratic(length: int) -> str:
    return f'<!DOCTYPE x [<!ENTITY a "{"x" * length}">]><x><p>{"&a;" * length}</p></x>'


REFUSED = {
    "billion laughs": (lol(9), "FILE: its entities make it more than 100 times larger; refused"),
    "billion laughs in an attribute": (
        lol(9).replace("<p>&a9;</p>", '<p a="&a9;"/>'),
        "FILE: its entities make it more than 100 times larger; refused",
    ),
    "quadratic blow-up": (quadratic(60_000), "FILE: its entities make it more than 100 times larger; refused"),
    "an entity of itself": (
        '<!DOCTYPE x [<!ENTITY a "&b;"><!ENTITY b "&a;">]><x>&a;</x>',
        "FILE:1:53: recursive entity reference",
    ),
    "a file": (
        '<!DOCTYPE x [\n <!ENTITY a SYSTEM "file:///a/b">]><x>&a;</x>',
        "FILE:2:33: declares the external entity &a; (file:///a/b), which is not read; put its text into the file",
    ),
    "a file that is not used": (
        '<!DOCTYPE x [<!ENTITY a PUBLIC "p" "http://e/a">]><x/>',
        "FILE:1:48: declares the external entity &a; (http://e/a), which is not read; put its text into the file",
    ),
    "a parameter entity": (
        "<!DOCTYPE x [<!ENTITY % a \"<!ENTITY b 'c'>\"> %a;]><x/>",
        "FILE:1:27: declares the parameter entity %a;, which is refused; write its text out",
    ),
    "an unknown parameter entity": (
        '<!DOCTYPE x [ %a; ]><x b="&c;"/>',
        "FILE:1:15: the document type uses the parameter entity %a;, which is refused; write it out",
    ),
    "an unknown entity": ('<!DOCTYPE x [<!ENTITY a "b">]><x c="&d;"/>', "FILE:1:31: undefined entity"),
    "an entity of an external document type": (
        '<!DOCTYPE x SYSTEM "x.dtd"><x c="&d;"/>',
        "FILE:1:28: undefined entity",
    ),
    "an encoding of several bytes": (
        '<?xml version="1.0" encoding="big5"?><x/>',
        "FILE: multi-byte encodings are not supported; convert the file to UTF-8",
    ),
    "an unknown encoding": (
        '<?xml version="1.0" encoding="klingon"?><x/>',
        "FILE: unknown encoding: klingon; convert the file to UTF-8",
    ),
    "too deep": ('<!DOCTYPE x [<!ENTITY a "b">]>' + "<x>" * 1001, "FILE: XML elements are nested more than 1,000 deep"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    path = tmp_path / "a.rdf"
    path.write_text(REFUSED[case][0])
    with pytest.raises(InputError) as caught:
        rows(path)
    assert str(caught.value).partition("\n")[0].replace(str(path), "FILE") == REFUSED[case][1]


@pytest.mark.skipif(not UOBM.exists(), reason="the ontology of UOBM is not here")
def test_a_published_ontology() -> None:
    rdflib = pytest.importorskip("rdflib")
    found, expected = set(rows(UOBM)), rdflib.Graph().parse(UOBM, format="xml")
    assert len(found) == len(expected)
    named, same = (
        {row for row in some if "_" not in (row[0][0], row[2][0])}
        for some in (found, formats.from_rdflib(expected).rows())
    )
    assert named == same
    assert len(tidelog.ontology(UOBM)) > 100


def test_entities_are_resolved_in_every_piece(tmp_path: Path) -> None:
    items = "".join(f'<rdf:Description rdf:about="&ex;{i}"><p>&ex;</p></rdf:Description>\n' for i in range(5000))
    text = SAME["entities"].decode().replace("</rdf:RDF>", f"{items}</rdf:RDF>")
    (tmp_path / "a.owl").write_text(text, encoding="utf-8")
    found = rows(tmp_path / "a.owl")
    assert len(found) == 5002
    assert {o for _, _, o in found if o.startswith('"http')} == {'"http://e/"'}
    assert os.path.getsize(tmp_path / "a.owl") > 1 << 17
