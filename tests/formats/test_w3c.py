"""The W3C test suites of the RDF 1.1 syntaxes, where they are present beside the repository."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox
import pytest

from tidelog import formats
from tidelog.errors import TidelogError
from tidelog.formats.ntriples import DEFAULT_GRAPH

SUITES = Path(__file__).parents[3] / "shared" / "w3c" / "rdf" / "rdf11"
FORMATS = {
    "rdf-n-triples": "ntriples",
    "rdf-n-quads": "nquads",
    "rdf-turtle": "turtle",
    "rdf-trig": "trig",
    "rdf-xml": "rdfxml",
}
MANIFEST = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_RELATIVE = "a plain name is a relative IRI here, so relative IRIs are accepted"
_CANONICAL_XML = "pyoxigraph keeps unused namespaces in XML literals"
SKIPPED = {
    "nq-syntax-bad-uri-01": _RELATIVE,
    "nt-syntax-bad-uri-06": _RELATIVE,
    "nt-syntax-bad-uri-07": _RELATIVE,
    "nt-syntax-bad-uri-08": _RELATIVE,
    "nt-syntax-bad-uri-09": _RELATIVE,
    "xml-canon-test001": _CANONICAL_XML,
    "xml-canon-test002": _CANONICAL_XML,
}


@dataclass(frozen=True)
class Case:
    format: str
    name: str
    kind: str
    action: Path
    base: str
    result: Path | None


def cases() -> Iterator[Case]:
    for folder, format_ in FORMATS.items():
        path = SUITES / folder / "manifest.ttl"
        if path.exists():
            yield from _manifest(path, format_)


def _manifest(path: Path, format_: str) -> Iterator[Case]:
    here = path.resolve().parent.as_uri() + "/"
    store = ox.Store()
    store.load(path=str(path), format=ox.RdfFormat.TURTLE, base_iri=here)

    def value(subject: ox.NamedNode, name: str) -> str | None:
        for quad in store.quads_for_pattern(subject, ox.NamedNode(MANIFEST + name), None):
            assert isinstance(quad.object, ox.NamedNode)
            return quad.object.value
        return None

    assumed = (
        value(ox.NamedNode(here), "assumedTestBase") or f"https://w3c.github.io/rdf-tests/rdf/rdf11/{path.parent.name}/"
    )
    for quad in store.quads_for_pattern(None, TYPE, None):
        if not isinstance(quad.subject, ox.NamedNode) or not isinstance(quad.object, ox.NamedNode):
            continue
        kind = quad.object.value.rpartition("#")[2]
        action = value(quad.subject, "action")
        if not kind.startswith("Test") or action is None:
            continue
        result = value(quad.subject, "result")
        relative = action.removeprefix(here)
        yield Case(
            format_,
            quad.subject.value.rpartition("#")[2],
            kind,
            path.parent / relative,
            assumed + relative,
            path.parent / result.removeprefix(here) if result else None,
        )


CASES = sorted(cases(), key=lambda c: (c.format, c.name))


def quads(case: Case) -> Iterator[bytes]:
    parameters: dict[str, object] = {"graphs": True} if case.format in ("nquads", "trig") else {}
    if case.format not in ("ntriples", "nquads"):
        parameters["base"] = case.base
    for batch in formats.read(case.action, case.format, parameters=parameters):
        for *graph, s, p, o in batch.rows():
            named = "" if graph in ([], [DEFAULT_GRAPH]) else f"{graph[0]} "
            yield f"{s} {p} {o} {named}.\n".encode()


def dataset(statements: bytes, format_: ox.RdfFormat) -> ox.Dataset:
    found = ox.Dataset(ox.parse(statements, format_))
    found.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return found


@pytest.mark.skipif(not CASES, reason="the W3C suites are not beside the repository")
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.format}-{c.name}")
def test_w3c(case: Case) -> None:
    if case.name in SKIPPED:
        pytest.skip(SKIPPED[case.name])
    if "Negative" in case.kind:
        with pytest.raises(TidelogError):
            list(quads(case))
        return
    found = b"".join(quads(case))
    if case.result is not None:
        expected = dataset(case.result.read_bytes(), ox.RdfFormat.N_QUADS)
        assert dataset(found, ox.RdfFormat.N_QUADS) == expected
