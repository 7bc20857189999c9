"""Parses the text of a query to its algebra, and a SPARQL 1.1 Update request to a list of operations.

A knowledge base has one graph, the default graph. An operation on named graphs is parsed to its end, so that a syntax
error is reported first; then it is refused. With SILENT it does nothing, as the standard says for failing operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tidelog.errors import ParseError, UsageError
from tidelog.model.terms import is_blank
from tidelog.queries.sparql.syntax.algebra import UNIT, BasicPattern, Pattern, Query, Triple
from tidelog.queries.sparql.syntax.query_grammar import QueryGrammar
from tidelog.queries.sparql.syntax.tokens import END, VARIABLE, location
from tidelog.rules.parsing.tokens import WELL_KNOWN_PREFIXES
from tidelog.rules.syntax import Variable


def parse(text: str, prefixes: Mapping[str, str] | None = None) -> Query:
    """The algebra of a query. Prefixes of the knowledge base need not be declared in it.

    >>> parse("ASK { ?x ?p 1 }", {})
    Ask(pattern=BasicPattern(triples=(Triple(subject=Variable(name='x'), predicate=Variable(name='p'), \
object='"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),)))
    """
    grammar = QueryGrammar(text, {**WELL_KNOWN_PREFIXES, **(prefixes or {})})
    try:
        return grammar.query()
    except RecursionError:
        raise ParseError("the query is nested too deeply here", location(grammar.text, grammar.token.start)) from None


Triples = tuple[Triple, ...]
_ONE_GRAPH = "a knowledge base has one graph, the default graph, and no named ones"


@dataclass(frozen=True, slots=True)
class Modify:
    """For each solution of the pattern, triples to delete and then triples to insert; DATA has the empty pattern."""

    pattern: Pattern
    delete: Triples = ()
    insert: Triples = ()


@dataclass(frozen=True, slots=True)
class Clear:
    """Delete all triples of the default graph."""


@dataclass(frozen=True, slots=True)
class Load:
    """Insert the triples of a file. With `silent`, an error is ignored."""

    iri: str
    silent: bool


Operation = Modify | Clear | Load


def parse_update(text: str, prefixes: Mapping[str, str] | None = None) -> list[Operation]:
    """The operations of a request.

    >>> parse_update("CLEAR ALL; LOAD SILENT <more.ttl>")
    [Clear(), Load(iri='more.ttl', silent=True)]
    """
    return UpdateGrammar(text, {**WELL_KNOWN_PREFIXES, **(prefixes or {})}).request()


class UpdateGrammar(QueryGrammar):
    """Parses an update request."""

    def __init__(self, text: str, prefixes: Mapping[str, str]) -> None:
        super().__init__(text, prefixes)
        self._data_labels: set[str] = set()  # of blank nodes in the INSERT DATA operations so far

    def request(self) -> list[Operation]:
        operations: list[Operation] = []
        self.prologue()
        while self.token.kind != END:
            self.used_labels = set()
            operations += self._operation()
            if not self.sign(";"):
                break
            self.prologue()
        if self.token.kind != END:
            self.fail("';' or the end of the request")
        if self.refused:
            raise UsageError(self.refused)
        return operations

    def _operation(self) -> list[Operation]:
        readers: dict[str, Callable[[], list[Operation]]] = {
            **{"INSERT": self._insert, "DELETE": self._delete, "WITH": self._with},
            **{"LOAD": self._load, "CLEAR": self._clear, "DROP": self._clear, "CREATE": self._create},
            **dict.fromkeys(("ADD", "MOVE", "COPY"), self._transfer),
        }
        return readers[self.expect_word(*readers)]()

    def _insert(self) -> list[Operation]:
        if self.word("DATA"):
            return [Modify(UNIT, insert=self._inserted_data())]
        return self._modify((), self._quads())

    def _delete(self) -> list[Operation]:
        if self.word("DATA"):
            return [Modify(UNIT, delete=self._without_blanks(data=True))]
        if self.is_word("WHERE"):
            self.advance()
            triples = self._without_blanks()
            return [Modify(BasicPattern(triples), delete=triples)]
        delete = self._without_blanks()
        return self._modify(delete, self._quads() if self.word("INSERT") else ())

    def _with(self) -> list[Operation]:
        self.iri()
        self._refuse("WITH")
        return self._insert() if self.expect_word("INSERT", "DELETE") == "INSERT" else self._delete()

    def _modify(self, delete: Triples, insert: Triples) -> list[Operation]:
        while self.word("USING"):
            self.word("NAMED")
            self.iri()
            self._refuse("USING")
        self.expect_word("WHERE")
        return [Modify(self.group_pattern(), delete, insert)]

    def _quads(self, *, data: bool = False) -> Triples:
        """Triples in braces; data has no variables."""
        start = self.token
        triples = self.template_triples(data)
        if data and (variable := next((v for triple in triples for v in triple.variables()), None)):
            self.wrong(
                f"{variable} is a variable, and DATA takes none; write INSERT or DELETE {{ … }} WHERE {{ … }}", start
            )
        return triples

    def template_block(self, data: bool) -> None:
        """Parse triples, some perhaps of named graphs."""
        self.triples_block()
        while self.word("GRAPH"):
            _ = self.variable() if self.token.kind == VARIABLE and not data else self.iri()
            self.expect("{")
            self.triples_block()
            self.expect("}")
            self._refuse("GRAPH in what is inserted or deleted")
            self.sign(".")
            self.triples_block()

    def _inserted_data(self) -> Triples:
        start, self.labels = self.token, set()
        triples = self._quads(data=True)
        for label in sorted(self.labels & self._data_labels):
            self.wrong(f"the blank node {label} is used in two operations; they would be different ones", start)
        self._data_labels |= self.labels
        return triples

    def _without_blanks(self, *, data: bool = False) -> Triples:
        start = self.token
        triples = self._quads(data=data)
        nodes = (node for t in triples for node in (t.subject, t.predicate, t.object) if not isinstance(node, Variable))
        if any(map(is_blank, nodes)):
            self.wrong("a blank node cannot be deleted by its name, which is not known outside; use a variable", start)
        return triples

    def _load(self) -> list[Operation]:
        silent = bool(self.word("SILENT"))
        iri = self.iri()[1:-1]
        if self.word("INTO"):
            self.expect_word("GRAPH")
            self.iri()
            return self._unless(silent, "LOAD INTO GRAPH")
        return [Load(iri, silent)]

    def _clear(self) -> list[Operation]:
        silent = bool(self.word("SILENT"))
        graphs = self.expect_word("GRAPH", "DEFAULT", "NAMED", "ALL")
        if graphs != "GRAPH":
            return [] if graphs == "NAMED" else [Clear()]
        self.iri()
        return self._unless(silent, "CLEAR GRAPH or DROP GRAPH")

    def _create(self) -> list[Operation]:
        silent = bool(self.word("SILENT"))
        self.expect_word("GRAPH")
        self.iri()
        return self._unless(silent, "CREATE GRAPH")

    def _transfer(self) -> list[Operation]:
        silent = bool(self.word("SILENT"))
        named = self._is_named_graph()
        self.expect_word("TO")
        return self._unless(silent, "a copy between graphs") if self._is_named_graph() or named else []

    def _is_named_graph(self) -> bool:
        if self.word("DEFAULT"):
            return False
        self.word("GRAPH")
        self.iri()
        return True

    def _unless(self, silent: bool, what: str) -> list[Operation]:
        if not silent:
            self._refuse(what)
        return []

    def _refuse(self, what: str) -> None:
        self.refused = self.refused or f"{what} is refused: {_ONE_GRAPH}"
