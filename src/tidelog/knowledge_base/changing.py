"""Changing facts and rules, in one atomic step each.

What a change would do, and which change would do what is wanted.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Unpack

from tidelog import tuning
from tidelog.algorithms.equality.policy import MODES, OFF
from tidelog.changes.apply import apply, read_update, revert, with_new_rules
from tidelog.changes.backend import AppliedChange, Backend
from tidelog.changes.choose import EngineChoice, choose_engine
from tidelog.changes.commit import commit
from tidelog.changes.estimate import predict
from tidelog.changes.inputs import Input, read_files, read_relation
from tidelog.changes.local_backend import LocalBackend
from tidelog.changes.progress import shown
from tidelog.changes.request import ChangeOptions, ChangeRequest, prefix_request, read_request
from tidelog.changes.result import Change, Prediction
from tidelog.changes.state import state_at
from tidelog.errors import UsageError
from tidelog.explain.repair.proposals import MAX_TRIES, Repairs, Weigh, read_repair_request, repairs
from tidelog.formats import Reading, reading_options
from tidelog.knowledge_base.session import Session
from tidelog.knowledge_base.snapshot import Snapshot
from tidelog.model.addresses import output_path
from tidelog.model.terms import Fact


class Changes(Session):
    """A change is applied, committed, and only then published: a change that fails has changed nothing."""

    def load(
        self,
        *sources: object,
        relation: str | None = None,
        engine: str = "auto",
        message: str = "",
        master: str | None = None,
        bad_lines: str = "fail",
        quarantine: str | Path | None = None,
        replace: bool = False,
        progress: Callable[[str], None] | bool = False,
        **reading: Unpack[Reading],
    ) -> Change:
        """Load data files and directories, programs (with their imports), rdflib graphs and tables, all or nothing.

        A table is a Spark or pandas DataFrame, an Arrow or a Delta table: triples, if its columns are subject,
        predicate and object, else the rows of `relation`, which also names the rows of CSV and Parquet files.
        `message` is kept with the version. `engine="spark"` reads, encodes, reasons and writes on Spark: the session
        that is active, or one on `master`. With `bad_lines="skip"` lines that are not valid are left out and counted;
        with "quarantine" they are also written to the file `quarantine`. `progress=True` shows the current step and its
        counts on stderr, in a terminal or a notebook; a function is called with the same texts.
        `reading` says how files are read: `header`, `delimiter`, `types` and `format`, see docs/formats.md.
        With `replace` the relations of the input become what it holds: `relation`, or all relations that it has.

        >>> import tidelog, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "family.rls")
        >>> _ = path.write_text("parent(ann, bob) . child(?y, ?x) :- parent(?x, ?y) .")
        >>> kb = tidelog.open()
        >>> len(kb.load(path).added)
        2
        """
        aside = None if quarantine is None else output_path(quarantine)
        with shown(progress) as report, self._writing() as now:
            options = ChangeOptions("auto", engine, master, bad_lines, aside, report, message)
            add, replaced = read_files(sources, reading_options(relation, reading)), None
            if replace:
                replaced = () if relation is None else (now.state.expand(relation),)
            return self._change(now, ChangeRequest(add, options=self._checked(options, now), replaced=replaced))

    def apply(
        self,
        add: object = None,
        remove: object = None,
        add_rules: object = None,
        remove_rules: object = None,
        algorithm: str = "auto",
        engine: str = "auto",
        message: str = "",
        options: Mapping[str, object] | None = None,
        master: str | None = None,
    ) -> Change:
        """Add and remove facts and rules in one atomic step; a fact both removed and added stays.

        `options` are kept with the knowledge base from then on, see the property of that name.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> kb.apply(add={"edge": [("a", "b"), ("b", "c")]}).version
        1
        >>> change = kb.apply(remove="edge(a, b) .", add_rules="reach(?x, ?y) :- edge(?x, ?y) .")
        >>> sorted(change.added), sorted(change.removed)
        ([('reach', 'b', 'c')], [('edge', 'a', 'b')])
        """
        with self._writing() as now:
            how = self._options(now, algorithm, engine, master, message, options)
            return self._change(now, read_request(add, remove, add_rules, remove_rules, now.state.prefixes, how))

    def replace(self, relation: str, rows: object, *, message: str = "") -> Change:
        """Make a relation what `rows` says, by the smallest change: rows, a table, a path, or facts as text.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add={"edge": [("a", "b"), ("b", "c")]})
        >>> change = kb.replace("edge", [("b", "c"), ("c", "d")])
        >>> sorted(change.added), sorted(change.removed)
        ([('edge', 'c', 'd')], [('edge', 'a', 'b')])
        """
        with self._writing() as now:
            name = now.state.expand(relation)
            add = read_relation(name, rows, now.state.prefixes)
            return self._change(now, ChangeRequest(add, options=self._options(now, message=message), replaced=(name,)))

    def revert(self, version: int, *, message: str = "") -> Change:
        """Make a new version that equals an older one on disk: its facts, rules, prefixes and options.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) ."), kb.apply(add="p(b) .", remove="p(a) .")
        >>> change = kb.revert(1)
        >>> change.version, list(change.added), kb.digest() == kb.at(1).digest()
        (3, [('p', 'a')], True)
        """
        store = self._on_disk()
        with self._writing() as now:
            past = state_at(store, now.state, version)
            options = self._options(now, message=message or f"revert to version {version}")
            backend = LocalBackend(now.engine)
            return self._commit(now, backend, revert(backend, now.state, past, options))

    def update(
        self, text: str, allow: Iterable[str | Path] = (), *, message: str = "", dry_run: bool = False
    ) -> Change:
        """Carry out a SPARQL 1.1 Update request, all its operations as one change; see `docs/sparql.md`.

        `LOAD` reads only the files, and files in the folders, that `allow` names. With `dry_run` nothing is committed.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="[ann, age, 42] .", add_rules="[?x, type, adult] :- [?x, age, ?n], ?n >= 18 .")
        >>> change = kb.update("DELETE { ?x <age> ?n } INSERT { ?x <age> 7 } WHERE { ?x <age> ?n }")
        >>> sorted(change.added), sorted(change.removed)
        ([('triple', 'ann', 'age', 7)], [('triple', 'ann', 'age', 42), ('triple', 'ann', 'type', 'adult')])
        """
        from tidelog.queries.sparql.update import read_update

        if dry_run:
            now = self._now()
            add, remove = read_update(now.engine, now.state, text, allow)
            return self._preview(now, ChangeRequest(add, remove, options=self._options(now)))
        with self._writing() as now:
            add, remove = read_update(now.engine, now.state, text, allow)
            return self._change(now, ChangeRequest(add, remove, options=self._options(now, message=message)))

    def declare(self, prefixes: Mapping[str, str | None], *, message: str = "") -> Change:
        """Add prefixes, replace those that are there, and remove those that are given as None.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.declare({"ex": "http://example.org/", "": "http://example.com/"})
        >>> _ = kb.apply(add="[ex:ann, :knows, ex:bob] .")
        >>> _ = kb.declare({"": None})
        >>> print(kb.prefixes)
        {'ex': 'http://example.org/'}
        """
        with self._writing() as now:
            return self._change(now, prefix_request(prefixes, now.state.prefixes, self._options(now, message=message)))

    def _options(
        self,
        now: Snapshot,
        algorithm: str = "auto",
        engine: str = "auto",
        master: str | None = None,
        message: str = "",
        settings: Mapping[str, object] | None = None,
    ) -> ChangeOptions:
        options = ChangeOptions(algorithm, engine, master, message=message, settings=settings or {})
        return self._checked(options, now)

    def _checked(self, options: ChangeOptions, now: Snapshot) -> ChangeOptions:
        """The options with the checks that this knowledge base asks for."""
        strict = self._strict or bool(now.state.options.get("strict"))
        return dataclasses.replace(options, strict=strict, allow_cartesian=self._allow_cartesian)

    def _change(self, now: Snapshot, request: ChangeRequest) -> Change:
        """Choose the backend, apply, commit, publish. The caller is the only writer."""
        with self._backend(now, request) as (backend, reason):
            return self._commit(now, backend, apply(backend, now.state, request, reason))

    def _commit(self, now: Snapshot, backend: Backend[Any], applied: AppliedChange[Any]) -> Change:
        """Commit and publish a change. One without an effect makes no version."""
        if applied.has_effect:
            applied.options.progress(f"commit version {applied.after.version}")
            committed = commit(backend, self._store, applied)
            self._publish(now, committed)
            change = committed.change
        else:
            change = applied.change(*backend.gather(applied).answers())
            if applied.engine == "local":  # the algorithm may keep something for the next change, such as counts
                state = dataclasses.replace(now.state, algorithm_state=applied.outcome.algorithm_state)
                self._replace(Snapshot(now.engine, state))
        _log(change)
        return change

    def _preview(self, now: Snapshot, request: ChangeRequest) -> Change:
        """What `_change` would return; nothing is committed."""
        with ExitStack() as stack:
            if self._chosen_engine(now, request).engine == "spark":
                stack.enter_context(self._alone())  # work on Spark is done one after the other
            backend, reason = stack.enter_context(self._backend(now, request))
            applied = apply(backend, now.state, request, reason)
            return applied.change(*backend.gather(applied).answers())

    def _chosen_engine(self, now: Snapshot, request: ChangeRequest) -> EngineChoice:
        """Where a change is made, and why."""
        options, memory = request.options, self._settings.memory_budget
        choice = choose_engine(options.engine, request.nbytes(), memory, options.master, request.remote)
        if choice.engine == "spark" and {**now.state.options, **options.settings}.get("equality", OFF) != OFF:
            raise UsageError(
                'a knowledge base with equality="rewriting" is changed by the local engine: engine="local"'
            )
        return choice

    @contextmanager
    def _backend(self, now: Snapshot, request: ChangeRequest) -> Iterator[tuple[Backend[Any], str]]:
        """The backend for a change, and why, if it is Spark."""
        choice = self._chosen_engine(now, request)
        if choice.engine == "local":
            yield LocalBackend(now.engine), ""
            return
        with self._readers_apart(now):
            yield self._on_spark(now.engine, request.options.master), choice.reason


_LOGGER = logging.getLogger("tidelog")


def _log(change: Change) -> None:
    if _LOGGER.isEnabledFor(logging.INFO):
        added, removed = len(change.added), len(change.removed)
        _LOGGER.info(
            "version %d: +%d -%d facts, %s on %s, %.3f s",
            *(change.version, added, removed, change.algorithm, change.engine, change.seconds),
        )
        _LOGGER.debug("%s; work: %s", change.reason, change.work.figures())


class WhatIf(Changes):
    """Nothing here changes anything."""

    def preview(
        self,
        add: object = None,
        remove: object = None,
        add_rules: object = None,
        remove_rules: object = None,
        algorithm: str = "auto",
        engine: str = "auto",
        master: str | None = None,
    ) -> Change:
        """What `apply` would do; nothing is committed. Unless files are large, its work is also predicted.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add_rules="q(?x) :- p(?x) .")
        >>> change = kb.preview(add="p(a) .")
        >>> len(change.added), kb.version, change.predicted.derivations, change.work.derivations
        (2, 1, 1, 1)
        """
        now = self._now()
        options = self._options(now, algorithm, engine, master)
        request = read_request(add, remove, add_rules, remove_rules, now.state.prefixes, options)
        is_large = engine == "spark" or bool(request.remote) or request.nbytes() > tuning.PREDICTION_BYTES
        predicted = None if is_large else _predict(now, request)
        return dataclasses.replace(self._preview(now, request), predicted=predicted)

    def predict(
        self, add: object = None, remove: object = None, add_rules: object = None, remove_rules: object = None
    ) -> Prediction:
        """About how much work `apply` would be, estimated from a few of the facts; quick, however large the change is.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add={"p": [(i,) for i in range(1000)]})
        >>> kb.predict(add_rules="q(?x) :- p(?x) .").derivations
        1000
        """
        now = self._now()
        prefixes, options = now.state.prefixes, self._options(now)
        return _predict(now, read_request(add, remove, add_rules, remove_rules, prefixes, options))

    def repair(
        self,
        fact: object,
        limit: int = 10,
        *,
        keep: object = None,
        weigh: Weigh = None,
        max_tries: int = MAX_TRIES,
    ) -> Repairs:
        """Minimal sets of explicit facts whose removal makes a fact go away, at most `limit`, the lightest first.

        The fact is text, a row such as `kb.all_facts()` gives, or an inconsistency (`kb.inconsistencies()[0]`).
        `keep` names relations, facts and patterns such as `parent(ann, ?x)` that shall stay. A fact weighs 1 unless
        `weigh` says otherwise: numbers by relation, or a function of the row. No more than `max_tries` sets are tried.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(
        ...     add="parent(ann, bob) . parent(bob, cid) .",
        ...     add_rules="ancestor(?x, ?y) :- parent(?x, ?y) . ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .",
        ... )
        >>> [repair.rows for repair in kb.repair("ancestor(ann, cid)")]
        [[('parent', 'ann', 'bob')], [('parent', 'bob', 'cid')]]
        """
        now = self._now()
        if now.equality is not MODES[OFF]:
            raise UsageError("repairs are found only where equality is off: rewriting hides which facts were equal")
        state, options = now.state, self._options(now)

        def without(facts: Sequence[Fact]) -> Change:
            return self._preview(now, ChangeRequest(remove=Input(facts=list(facts)), options=options))

        request = read_repair_request(fact, state.prefixes, limit, keep, weigh, max_tries, state.expand)
        return repairs(now.engine, state.E, state.I, state.program, request, without)


def _predict(now: Snapshot, request: ChangeRequest) -> Prediction:
    engine, state = now.engine, now.state
    after = with_new_rules(state, request)
    update = read_update(LocalBackend(engine), state, after, request).update
    old, new = (now.equality.rules(engine, s.program.after, state.I) for s in (state, after))
    return predict(engine, state.I, update.E, old, new, update.added, update.removed)
