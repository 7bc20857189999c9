"""Changing facts and rules, in one atomic step each.

What a change would do, and which change would do what is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.algorithms.equality.policy import MODES, OFF
from tidelog.changes.apply import Attempt, Checks, attempt, read_into, with_rules
from tidelog.changes.choose import choose_engine
from tidelog.changes.commit import commit, counted, describe
from tidelog.changes.estimate import predict
from tidelog.changes.inputs import Input, read_facts, read_files, read_rules
from tidelog.changes.request import Manner, silent
from tidelog.changes.result import Change, Prediction
from tidelog.errors import UsageError
from tidelog.explain.repair.proposals import MAX_TRIES, Repairs, Weigh, read_request, repairs
from tidelog.knowledge_base.session import Held
from tidelog.model.facts import Fact
from tidelog.rules.syntax import Rule

if TYPE_CHECKING:
    from tidelog.changes.spark_backend import Tried


class Changes(Held):
    """Tried (`attempt`), made durable (`commit`), and only then seen: a change that fails has changed nothing."""

    def load(
        self,
        *sources: object,
        relation: str | None = None,
        engine: str = "auto",
        message: str = "",
        master: str | None = None,
        bad_lines: str = "fail",
        quarantine: str | Path | None = None,
        progress: Callable[[str], None] = silent,
    ) -> Change:
        """Load data files and directories, programs (with their imports), rdflib graphs and tables, all or nothing.

        A table is a Spark or pandas DataFrame, an Arrow or a Delta table: triples, if its columns are subject,
        predicate and object, else the rows of `relation`, which also names the rows of CSV and Parquet files.
        `message` is kept with the version. `engine="spark"` reads, encodes, reasons and writes on Spark: the session
        that is active, or one on `master`. With `bad_lines="skip"` lines that are not valid are left out and counted;
        with "quarantine" they are also written to the file `quarantine`. `progress` is told what is being done.

        >>> import tidelog, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "family.rls")
        >>> _ = path.write_text("parent(ann, bob) . child(?y, ?x) :- parent(?x, ?y) .")
        >>> kb = tidelog.open()
        >>> len(kb.load(path).added)
        2
        """
        aside = None if quarantine is None else Path(quarantine)
        manner = Manner("auto", engine, master, bad_lines, aside, progress)
        return self._commit(read_files(sources, relation), Input(), (), manner, message)

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
        manner = Manner(algorithm, engine, master)
        return self._commit(*self._read(add, remove, add_rules, remove_rules), manner, message, options)

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
            return self._attempt(*read_update(self._engine, self._state, text, allow), (), Manner()).change
        self._start_writing()
        return self._commit(*read_update(self._engine, self._state, text, allow), (), Manner(), message)

    def _read(
        self, add: object, remove: object, add_rules: object, remove_rules: object
    ) -> tuple[Input, Input, tuple[Rule, ...]]:
        known = self._state.prefixes
        plus, new = read_facts(add, known), read_rules(add_rules, known)
        plus.rules += new.rules
        plus.prefixes |= new.prefixes
        return plus, read_facts(remove, known), tuple(read_rules(remove_rules, known).rules)

    def _commit(
        self,
        plus: Input,
        minus: Input,
        without: Sequence[Rule],
        manner: Manner,
        message: str,
        options: Mapping[str, object] | None = None,
    ) -> Change:
        self._start_writing()
        kept = options or {}
        self._choose_equality(kept.get("equality"))
        before = self._state
        made = self._try(plus, minus, without, manner)
        if not isinstance(made, Attempt):
            if self._store is not None and made.is_written_by_executors(self._store):
                state, change = made.commit(self._store, message, kept)
                self._leave_unread(state)
                return change
            made = made.gathered()
        after, change, delta = made
        after = replace(after, options={**after.options, **kept})
        if self._store is None:
            self._log.append(describe(change, counted(after, delta), message, ""))
        else:
            after = commit(self._store, before, after, change, delta, message)
        self._state = after
        return change

    def _attempt(self, plus: Input, minus: Input, without: Sequence[Rule], manner: Manner) -> Attempt:
        """What a change would lead to; nothing is kept."""
        made = self._try(plus, minus, without, manner)
        return made if isinstance(made, Attempt) else made.gathered()

    def _try(self, plus: Input, minus: Input, without: Sequence[Rule], manner: Manner) -> Attempt | Tried:
        checks = Checks(self._strict or bool(self._state.options.get("strict")), self._allow_cartesian)
        size, remote = plus.nbytes() + minus.nbytes(), plus.is_remote or minus.is_remote
        choice = choose_engine(manner.engine, size, self._settings.memory_budget, manner.master, remote)
        if choice.engine == "local":
            with manner.refused() as refused:
                made = attempt(
                    self._engine,
                    self._state,
                    plus.skipping_bad_lines(refused),
                    minus,
                    without,
                    manner.algorithm,
                    checks,
                )
            left_out = refused.count if refused else 0
            return made._replace(change=replace(made.change, bad_lines=left_out)) if left_out else made
        return self._on_spark(manner.master).attempt(self._state, plus, minus, without, manner, choice.reason, checks)


_READ_TWICE = 64_000_000  # bytes of files at most that are read for a prediction before they are read for a preview


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
        parts = self._read(add, remove, add_rules, remove_rules)
        is_bulk = engine == "spark" or parts[0].nbytes() + parts[1].nbytes() > _READ_TWICE
        predicted = None if is_bulk else self._predict(*parts)
        return replace(self._attempt(*parts, Manner(algorithm, engine, master)).change, predicted=predicted)

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
        return self._predict(*self._read(add, remove, add_rules, remove_rules))

    def _predict(self, plus: Input, minus: Input, without: Sequence[Rule]) -> Prediction:
        state = self._state
        ruled = with_rules(state, plus, without, self._allow_cartesian)
        arities = {**state.E.arities(), **ruled.arities}
        added, removed = (read_into(self._engine, source, arities) for source in (plus, minus))
        gone, new = (removed - added) & state.E, added - state.E
        before, after = (self._equality.rules(self._engine, s.program.after, state.I) for s in (state, ruled))
        return predict(self._engine, state.I, (state.E - gone) | new, before, after, new, gone)

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

        The fact is text, or a row such as `kb.all_facts()` gives.
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
        if self._equality is not MODES[OFF]:
            raise UsageError("repairs are found only where equality is off: rewriting hides which facts were equal")
        state, known = self._state, self._state.prefixes
        request = read_request(fact, known, limit, keep, weigh, max_tries, self._expand)
        return repairs(self._engine, state.E, state.I, state.program, request, self._without)

    def _without(self, facts: Sequence[Fact]) -> Change:
        return self._attempt(Input(), Input(facts=list(facts)), (), Manner()).change
