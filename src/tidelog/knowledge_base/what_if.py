"""What a change would do, and which change would do what is wanted."""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.change import Change
from tidelog.equality.modes import MODES, OFF
from tidelog.errors import UsageError
from tidelog.inputs import Input
from tidelog.knowledge_base.changes import Changes
from tidelog.model.facts import Fact
from tidelog.repair.proposals import Repairs, repairs
from tidelog.repair.request import MAX_TRIES, Weigh, read_request


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
    ) -> Change:
        """What `apply` would do; nothing is committed.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> len(kb.preview(add="p(a) .").added), kb.version
        (1, 0)
        """
        return self._attempt(*self._read(add, remove, add_rules, remove_rules), algorithm, engine)[1]

    def repair(
        self,
        fact: str | Fact,
        limit: int = 10,
        *,
        keep: object = None,
        weigh: Weigh = None,
        max_tries: int = MAX_TRIES,
    ) -> Repairs:
        """Minimal sets of explicit facts whose removal makes a fact go away, at most `limit`, the lightest first.

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
        return self._attempt(Input(), Input(facts=list(facts)), (), "auto", "auto")[1]
