"""The W3C suites of SPARQL 1.0 and 1.1 beside the repository: what their manifests say, as cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyoxigraph as ox

from tidelog.model.terms import RDF

FOLDER = Path(__file__).parents[4] / "shared" / "w3c" / "sparql"
SUITES = {"": FOLDER / "sparql11", "1.0/": FOLDER / "sparql10"}  # by what the names of their tests start with
_MANIFEST = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
_QUERY = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
_UPDATE = "http://www.w3.org/2009/sparql/tests/test-update#"
_SERVICE = "http://www.w3.org/ns/sparql-service-description#"
_ENTAILMENT = "http://www.w3.org/ns/entailment/"

# The kinds of tests of query engines; those of protocols and of service descriptions are for servers.
KINDS = {
    "QueryEvaluationTest": "query",
    "CSVResultFormatTest": "query",
    "UpdateEvaluationTest": "update",
    "PositiveSyntaxTest11": "right",
    "PositiveUpdateSyntaxTest11": "right",
    "PositiveSyntaxTest": "right",
    "NegativeSyntaxTest": "wrong",
    "NegativeSyntaxTest11": "wrong",
    "NegativeUpdateSyntaxTest11": "wrong",
}


@dataclass(frozen=True)
class Case:
    """A test; `result` is what a query gives, or the default graph after an update, of which None is the empty one."""

    name: str
    kind: str
    text: Path
    data: tuple[Path, ...] = ()
    result: Path | None = None
    named_graphs: bool = False
    regimes: frozenset[str] = field(default_factory=frozenset)
    regime: str = ""
    lax: bool = False  # how often a row comes does not matter

    @property
    def base(self) -> str:
        return self.text.parent.as_uri() + "/"

    @property
    def is_update(self) -> bool:
        return self.text.suffix == ".ru"


def cases() -> Iterator[Case]:
    for name, suite in SUITES.items():
        for path in sorted(suite.glob("*/manifest.ttl")):
            yield from _Manifest(path.resolve(), f"{name}{path.parent.name}").cases()


class _Manifest:
    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.store = ox.Store()
        self.store.load(path=str(path), format=ox.RdfFormat.TURTLE, base_iri=path.as_uri())

    def cases(self) -> Iterator[Case]:
        for entries in self._values(None, f"{_MANIFEST}entries"):
            for node in self._list(entries):
                kind = KINDS.get(_after(self._one(node, f"{RDF}type"), "#"))
                if kind:
                    yield self._case(node, kind)

    def _case(self, node: object, kind: str) -> Case:
        name = f"{self.name}/{_after(node, '#')}"
        action, result = self._one(node, f"{_MANIFEST}action"), self._one(node, f"{_MANIFEST}result")
        if kind in ("right", "wrong"):
            return Case(name, kind, _path(action))
        if kind == "update":
            before, after = (self._values(n, f"{_UPDATE}data") for n in (action, result))
            text = _path(self._one(action, f"{_UPDATE}request"))
            named = bool(self._values(action, f"{_UPDATE}graphData") + self._values(result, f"{_UPDATE}graphData"))
            return Case(name, kind, text, tuple(map(_path, before)), next(map(_path, after), None), named)
        text = _path(self._one(action, f"{_QUERY}query"))
        data = tuple(map(_path, self._values(action, f"{_QUERY}data")))
        named = bool(self._values(action, f"{_QUERY}graphData"))
        lax = self._one(node, f"{_MANIFEST}resultCardinality") is not None
        return Case(name, kind, text, data, _path(result), named, self._regimes(action), lax=lax)

    def _regimes(self, action: object) -> frozenset[str]:
        given = self._one(action, f"{_SERVICE}entailmentRegime")
        if given is None:
            return frozenset()
        nodes = [given] if _text(given).startswith(_ENTAILMENT) else self._list(given)
        return frozenset(_after(node, "/") for node in nodes)

    def _values(self, node: object, predicate: str) -> list[object]:
        quads = self.store.quads_for_pattern(node, ox.NamedNode(predicate), None)  # type: ignore[arg-type]
        return [quad.object for quad in quads]

    def _one(self, node: object, predicate: str) -> object:
        return next(iter(self._values(node, predicate)), None)

    def _list(self, node: object) -> Iterator[object]:
        while node != ox.NamedNode(f"{RDF}nil"):
            yield self._one(node, f"{RDF}first")
            node = self._one(node, f"{RDF}rest")


def _text(node: object) -> str:
    assert isinstance(node, ox.NamedNode | ox.BlankNode)
    return node.value


def _after(node: object, mark: str) -> str:
    return _text(node).rpartition(mark)[2]


def _path(node: object) -> Path:
    return Path(_text(node).removeprefix("file://"))
