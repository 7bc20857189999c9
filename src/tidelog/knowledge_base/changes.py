"""Changing facts and rules, in one atomic step each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tidelog.attempt import attempt
from tidelog.change import Change
from tidelog.commit import commit, describe
from tidelog.errors import UsageError
from tidelog.inputs import Input, read_facts, read_files, read_rules
from tidelog.knowledge_base.held import Held
from tidelog.rules.syntax import Rule
from tidelog.state import State
from tidelog.store.delta import Delta


class Changes(Held):
    """Tried (`attempt`), made durable (`commit`), and only then seen: a change that fails has changed nothing."""

    def load(self, *files: str | Path, engine: str = "auto", message: str = "") -> Change:
        """Load data files and programs (with their imports), all or nothing; `message` is kept with the version.

        >>> import tidelog, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "family.rls")
        >>> _ = path.write_text("parent(ann, bob) . child(?y, ?x) :- parent(?x, ?y) .")
        >>> kb = tidelog.open()
        >>> len(kb.load(path).added)
        2
        """
        return self._commit(read_files(files), Input(), (), "auto", engine, message)

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
        return self._commit(*self._read(add, remove, add_rules, remove_rules), algorithm, engine, message, options)

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
        algorithm: str,
        engine: str,
        message: str,
        options: Mapping[str, object] | None = None,
    ) -> Change:
        self._start_writing()
        kept = options or {}
        self._choose_equality(kept.get("equality"))
        before = self._state
        after, change, delta = self._attempt(plus, minus, without, algorithm, engine)
        after = replace(after, options={**after.options, **kept})
        if self._store is None:
            self._log.append(describe(after, change, delta, message, ""))
        else:
            after = commit(self._store, before, after, change, delta, message)
        self._state = after
        return change

    def _attempt(
        self, plus: Input, minus: Input, without: Sequence[Rule], algorithm: str, engine: str
    ) -> tuple[State, Change, Delta]:
        """What a change would lead to; nothing is kept."""
        if engine not in ("auto", "local"):
            raise UsageError(f"unknown engine {engine!r}; choose one of: auto, local")
        strict = self._strict or bool(self._state.options.get("strict"))
        cartesian = self._allow_cartesian
        return attempt(
            self._engine, self._state, plus, minus, without, algorithm, strict=strict, allow_cartesian=cartesian
        )
