"""What a change would do, and which change would do what is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tidelog.attempt import read_into, with_rules
from tidelog.change import Change, Prediction
from tidelog.equality.modes import MODES, OFF
from tidelog.errors import UsageError
from tidelog.inputs import Input
from tidelog.knowledge_base.changes import Changes
from tidelog.manner import Manner
from tidelog.model.facts import Fact
from tidelog.prediction import predict
from tidelog.repair.proposals import Repairs, repairs
from tidelog.repair.request import MAX_TRIES, Weigh, read_request
from tidelog.rules.syntax import Rule

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
