"""A knowledge base as the store of an rdflib graph: `rdflib.Graph(store="tidelog")`.

Reading returns all facts, explicit and derived. Adding and removing triples changes explicit facts. The changes are
gathered in a `Transaction` until `commit` makes them one version. Until then only this graph sees them, with all their
consequences.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

import rdflib
from rdflib import Graph, URIRef
from rdflib.plugin import register as register_plugin
from rdflib.query import Result
from rdflib.store import NO_STORE, VALID_STORE, Store

import tidelog
from tidelog.changes.apply import state_after
from tidelog.changes.inputs import Input
from tidelog.changes.request import ChangeRequest
from tidelog.errors import StoreError, UsageError
from tidelog.formats.rdflib_terms import nodes, term_of
from tidelog.knowledge_base.snapshot import Snapshot
from tidelog.model.terms import TRIPLE, Fact
from tidelog.queries.datalog import Kind, find
from tidelog.queries.sparql import Dataset, evaluate
from tidelog.queries.sparql.update import read_update
from tidelog.rules.printer import format_fact
from tidelog.rules.syntax import Atom, Variable

if TYPE_CHECKING:
    from rdflib.graph import _ContextType, _QuadType, _TriplePatternType, _TripleType
    from rdflib.term import Identifier

    from tidelog.knowledge_base import KnowledgeBase
    from tidelog.queries.answers import Answers
    from tidelog.queries.sparql.solutions import Solutions


class Transaction:
    """Facts to add and to remove. `now` applies those gathered since its last call. Threads may share it."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._committing = Lock()  # held for a commit; a reader does not wait for it
        self._lock = RLock()
        self.discard()

    def discard(self) -> None:
        with self._lock:
            self._plus: dict[Fact, None] = {}
            self._minus: dict[Fact, None] = {}
            self._base = self._seen = self.kb._now()
            self._unseen: dict[Fact, bool] = {}  # True: added last; False: removed last

    def __len__(self) -> int:
        return len(self._plus) + len(self._minus)

    def add(self, fact: Fact) -> None:
        with self._lock:
            if fact in self._minus:
                del self._minus[fact]
            else:
                self._plus[fact] = None
            self._unseen[fact] = True

    def remove(self, fact: Fact) -> bool:
        """Remove a fact and return True if it was explicit."""
        with self._lock:
            now = self.kb._now()
            is_committed = bool(now.engine.fact_set((fact,)) & now.state.E)
            if fact not in self._plus and (fact in self._minus or not is_committed):
                return False
            self._plus.pop(fact, None)
            if is_committed:
                self._minus[fact] = None
            self._unseen[fact] = False
            return True

    def now(self) -> Snapshot:
        """The knowledge base with the changes of this transaction. Constraints are checked."""
        with self._lock:
            newest = self.kb._now()
            if self._base.state is not newest.state:  # the knowledge base itself was changed
                self._base = self._seen = newest
                self._unseen = {**dict.fromkeys(self._plus, True), **dict.fromkeys(self._minus, False)}
            if self._unseen:
                add, remove = (
                    Input(facts=[f for f, added in self._unseen.items() if added is way]) for way in (True, False)
                )
                engine, before = self._seen.engine, self._seen.state
                self._seen = Snapshot(engine, state_after(engine, before, ChangeRequest(add, remove)))
                self._unseen = {}
            return self._seen

    def commit(self, prefixes: Mapping[str, str]) -> None:
        """Make one change of the knowledge base. If it fails, nothing changes."""
        with self._committing:
            with self._lock:
                plus, minus = list(self._plus), list(self._minus)
            if plus or minus or prefixes:
                declared = "".join(f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in prefixes.items())
                self.kb.apply(add=[plus, declared], remove=minus)
            with self._lock:
                self._settle(plus, self._plus, self._minus)
                self._settle(minus, self._minus, self._plus)
                self._base = self._seen = self.kb._now()
                self._unseen = {**dict.fromkeys(self._plus, True), **dict.fromkeys(self._minus, False)}

    def _settle(self, committed: Iterable[Fact], pending: dict[Fact, None], opposite: dict[Fact, None]) -> None:
        """Take committed facts out of `pending`. One that another thread took back meanwhile is to be undone."""
        for fact in committed:
            if fact in pending:
                del pending[fact]
            else:
                opposite[fact] = None


_PLACES = tuple(Variable(name) for name in ("s", "p", "o"))


def register() -> None:
    """Make `rdflib.Graph(store="tidelog")` work. Not needed if tidelog is installed."""
    register_plugin("tidelog", Store, "tidelog.adapters.rdflib_store", "TidelogStore")


class TidelogStore(Store):
    """The triples of a knowledge base: a new one in memory, the one in `kb`, or one that is opened by its path.

    With `autocommit`, every `add`, `addN`, `remove` and update is a commit of its own.

    >>> from rdflib import Graph, RDF, URIRef
    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add_rules="[?x, rdf:type, animal] :- [?x, rdf:type, dog] .")
    >>> graph = Graph(store=TidelogStore(kb=kb))
    >>> _ = graph.add((URIRef("rex"), RDF.type, URIRef("dog"))).commit()
    >>> (URIRef("rex"), RDF.type, URIRef("animal")) in graph
    True
    """

    context_aware = False
    formula_aware = False
    transaction_aware = True
    graph_aware = False

    def __init__(
        self,
        configuration: str | None = None,
        identifier: Identifier | None = None,
        *,
        kb: KnowledgeBase | None = None,
        autocommit: bool = False,
    ) -> None:
        self.autocommit = autocommit
        self._is_ours = kb is None
        self._prefixes: dict[str, URIRef] = {}
        self._open_transaction: Transaction | None = None
        self._use(tidelog.open() if kb is None else kb)
        super().__init__(configuration, identifier)

    def _use(self, kb: KnowledgeBase) -> None:
        self._open_transaction = Transaction(kb)
        for prefix, namespace in kb.prefixes.items():
            self.bind(prefix, URIRef(namespace))

    def _transaction(self) -> Transaction:
        if self._open_transaction is None:
            raise StoreError("this store is closed; open it with graph.open(path)")
        return self._open_transaction

    @property
    def kb(self) -> KnowledgeBase:
        """The knowledge base without uncommitted changes."""
        return self._transaction().kb

    # Opening and closing

    def open(self, configuration: str | tuple[str, str], create: bool = False) -> int | None:
        """Open the knowledge base at a path. If there is none, `create` it or return `NO_STORE`."""
        path = Path(str(configuration))
        self._release()
        if not create and not path.is_dir():
            return NO_STORE
        self._is_ours = True
        self._use(tidelog.open(path, create=create))
        return VALID_STORE

    def close(self, commit_pending_transaction: bool = False) -> None:
        """Release the knowledge base. Uncommitted changes are lost unless `commit_pending_transaction`."""
        if self._open_transaction is not None and commit_pending_transaction:
            self.commit()
        self._release()

    def _release(self) -> None:
        transaction, self._open_transaction = self._open_transaction, None
        if transaction is None:
            return
        if self._is_ours:
            transaction.kb.close()
        if transaction:
            lost = f"{len(transaction)} changes were not committed and are lost; call graph.commit() before closing"
            warnings.warn(lost, stacklevel=3)

    def destroy(self, configuration: str) -> None:
        raise UsageError(f"tidelog deletes no knowledge base; delete the directory {configuration} if you mean to")

    # Triples

    def add(self, triple: _TripleType, context: _ContextType, quoted: bool = False) -> None:
        if quoted:
            raise UsageError("quoted statements have no place in a knowledge base")
        self._transaction().add(_fact(triple))
        super().add(triple, context, quoted)
        self._commit_at_once()

    def addN(self, quads: Iterable[_QuadType]) -> None:  # noqa: N802
        for s, p, o, context in quads:
            self._transaction().add(_fact((s, p, o)))
            Store.add(self, (s, p, o), context)
        self._commit_at_once()

    def remove(self, triple: _TriplePatternType, context: _ContextType | None = None) -> None:
        """Remove the explicit triples that match. Raises UsageError for a single triple that is only derived."""
        transaction = self._transaction()
        if None in triple:
            for found in list(self._matches(triple, "explicit")):
                transaction.remove(_fact(found))
        elif not transaction.remove(_fact(triple)) and len(self._answers(triple, "all")):
            text = format_fact(_fact(triple))
            raise UsageError(
                f"{text} is derived and cannot be removed itself; kb.repair({text!r}) says what to remove instead"
            )
        super().remove(triple, context)
        self._commit_at_once()

    def triples(
        self, triple_pattern: _TriplePatternType, context: _ContextType | None = None
    ) -> Iterator[tuple[_TripleType, Iterator[_ContextType | None]]]:
        """The triples that match now, explicit and derived. Later changes have no effect on the iterator."""
        return ((found, iter(())) for found in self._matches(triple_pattern, "all"))

    def _matches(self, pattern: _TriplePatternType, kind: Kind) -> Iterator[_TripleType]:
        answers = self._answers(pattern, kind)
        if None not in pattern:
            return iter([pattern] * len(answers))  # type: ignore[list-item]
        return _filled(pattern, answers)

    def _answers(self, pattern: _TriplePatternType, kind: Kind) -> Answers:
        now = self._transaction().now()
        atom = Atom(TRIPLE, tuple(v if n is None else term_of(n) for v, n in zip(_PLACES, pattern, strict=True)))
        return find(now.engine, now.state, (atom,), list(atom.variables()), kind)

    def __len__(self, context: _ContextType | None = None) -> int:
        return len(self._answers((None, None, None), "all"))

    def contexts(self, triple: _TripleType | None = None) -> Generator[_ContextType, None, None]:
        """Yield nothing: a knowledge base is one graph."""
        yield from ()

    # SPARQL

    def query(
        self,
        query: Any,
        initNs: Mapping[str, Any],
        initBindings: Mapping[str, Identifier],
        queryGraph: str,
        **kwargs: Any,
    ) -> Result:
        """Answer a query text with tidelog's SPARQL. Prepared queries and initial bindings are left to rdflib."""
        if initBindings or kwargs or not isinstance(query, str):
            raise NotImplementedError
        now = self._transaction().now()
        facts = now.equality.facts(now.engine, now.state.I, now.state.I)
        return _result(evaluate(Dataset(now.engine, facts, _texts(initNs)), query))

    def update(
        self,
        update: Any,
        initNs: Mapping[str, Any],
        initBindings: Mapping[str, Identifier],
        queryGraph: str,
        **kwargs: Any,
    ) -> None:
        """Run an update text with tidelog's SPARQL, as part of the transaction. LOAD is not allowed."""
        if initBindings or kwargs or not isinstance(update, str):
            raise NotImplementedError
        transaction = self._transaction()
        now = transaction.now()
        plus, minus = read_update(now.engine, replace(now.state, prefixes=_texts(initNs)), update)
        for fact in minus.facts:
            transaction.remove(fact)
        for fact in plus.facts:
            transaction.add(fact)
        self._commit_at_once()

    # Transactions

    def commit(self) -> None:
        """Commit all changes since the last commit as one version."""
        self._transaction().commit(self._new_prefixes())

    def rollback(self) -> None:
        """Discard all changes since the last commit."""
        self._transaction().discard()

    def _commit_at_once(self) -> None:
        if self.autocommit:
            self.commit()

    # Namespaces

    def bind(self, prefix: str, namespace: URIRef, override: bool = True) -> None:
        """Bind a prefix to a namespace, one to one. Without `override`, existing bindings stay."""
        bound = self.prefix(namespace)
        if not override and (bound is not None or prefix in self._prefixes):
            return
        if bound is not None:
            self._prefixes.pop(bound, None)
        self._prefixes[prefix] = URIRef(namespace)

    def namespace(self, prefix: str) -> URIRef | None:
        return self._prefixes.get(prefix)

    def prefix(self, namespace: URIRef) -> str | None:
        return next((p for p, n in self._prefixes.copy().items() if n == namespace), None)

    def namespaces(self) -> Iterator[tuple[str, URIRef]]:
        return iter(self._prefixes.copy().items())

    def _new_prefixes(self) -> dict[str, str]:
        """The prefixes that the knowledge base lacks, without those that every rdflib graph has."""
        usual = dict(Graph().namespaces())
        return {
            p: str(n)
            for p, n in self._prefixes.copy().items()
            if usual.get(p) != n and self.kb.prefixes.get(p) != str(n)
        }


def _fact(triple: _TriplePatternType) -> Fact:
    return Fact(TRIPLE, tuple(term_of(node) for node in triple if node is not None))


def _filled(pattern: _TriplePatternType, answers: Answers) -> Iterator[_TripleType]:
    """Yield the pattern with its free places filled from each row."""
    for row in nodes(answers.term_blocks()):
        values = iter(row)
        yield tuple(next(values) if node is None else node for node in pattern)  # type: ignore[misc]


def _texts(prefixes: Mapping[str, Any]) -> dict[str, str]:
    return {prefix: str(namespace) for prefix, namespace in prefixes.items()}


def _result(answer: Solutions | bool | Graph) -> Result:
    """The answer as an rdflib Result."""
    if isinstance(answer, bool):
        result = Result("ASK")
        result.askAnswer = answer
    elif isinstance(answer, Graph):
        result = Result("CONSTRUCT")
        result.graph = answer
    else:
        result = Result("SELECT")
        names = [rdflib.Variable(name) for name in answer.names]
        result.vars = names
        rows = nodes(answer.term_blocks()) if names else [()] * len(answer)
        result.bindings = [{n: v for n, v in zip(names, row, strict=True) if v is not None} for row in rows]
    return result
