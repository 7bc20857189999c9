"""The triples of an ontology, looked up by subject or by predicate, in the order they were given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tidelog.model.terms import Term
from tidelog.owl.names import TYPE, rdf

Triple = tuple[Term, Term, Term]


class MalformedError(Exception):
    """Triples that spell out neither a list nor a property."""


class Graph:
    """Triples that can be asked for."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.triples: list[Triple] = list(dict.fromkeys(triples))
        self._by_subject: dict[Term, dict[Term, list[Term]]] = defaultdict(lambda: defaultdict(list))
        self._by_predicate: dict[Term, list[tuple[Term, Term]]] = defaultdict(list)
        for s, p, o in self.triples:
            self._by_subject[s][p].append(o)
            self._by_predicate[p].append((s, o))

    def pairs(self, predicate: Term) -> list[tuple[Term, Term]]:
        """The subjects and objects of a predicate."""
        return self._by_predicate.get(predicate, [])

    def objects(self, subject: Term, predicate: Term) -> list[Term]:
        return self._by_subject.get(subject, {}).get(predicate, [])

    def value(self, subject: Term, predicate: Term) -> Term | None:
        """The first object, if there is one."""
        return next(iter(self.objects(subject, predicate)), None)

    def predicates(self, subject: Term) -> Iterable[Term]:
        return self._by_subject.get(subject, {})

    def has_type(self, subject: Term, kind: Term) -> bool:
        return kind in self.objects(subject, TYPE)

    def instances(self, kind: Term) -> list[Term]:
        return [s for s, o in self.pairs(TYPE) if o == kind]

    def members(self, node: Term) -> tuple[Term, ...]:
        """The elements of an RDF list."""
        found: list[Term] = []
        seen: set[Term] = set()
        while node != rdf("nil"):
            first, rest = self.value(node, rdf("first")), self.value(node, rdf("rest"))
            if first is None or rest is None or node in seen:
                raise MalformedError(f"the list at {node} is broken: every node needs one rdf:first and one rdf:rest")
            seen.add(node)
            found.append(first)
            node = rest
        return tuple(found)
