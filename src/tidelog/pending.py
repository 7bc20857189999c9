"""Changes of explicit facts that are gathered, seen with all that follows from them, and committed together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tidelog.attempt import attempt
from tidelog.inputs import Input
from tidelog.model.facts import Fact

if TYPE_CHECKING:
    from tidelog.engines.local.engine import LocalEngine
    from tidelog.knowledge_base import KnowledgeBase
    from tidelog.state import State


class Pending:
    """What is to be added and removed. `state` follows what was gathered, a step from one look to the next."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.forget()

    def forget(self) -> None:
        self._plus: dict[Fact, None] = {}
        self._minus: dict[Fact, None] = {}
        self._base = self._seen = self.kb._state
        self._unseen: dict[Fact, bool] = {}  # whether a fact was added last, or removed

    def __len__(self) -> int:
        return len(self._plus) + len(self._minus)

    @property
    def engine(self) -> LocalEngine:
        return self.kb._engine

    def add(self, fact: Fact) -> None:
        if fact in self._minus:
            del self._minus[fact]
        else:
            self._plus[fact] = None
        self._unseen[fact] = True

    def remove(self, fact: Fact) -> bool:
        """Whether the fact was explicit, so that there was something to remove."""
        is_committed = bool(self.engine.collect((fact,)) & self.kb._state.E)
        if fact not in self._plus and (fact in self._minus or not is_committed):
            return False
        self._plus.pop(fact, None)
        if is_committed:
            self._minus[fact] = None
        self._unseen[fact] = False
        return True

    def state(self) -> State:
        """The state as it would be, constraints checked."""
        if self._base is not self.kb._state:  # somebody has changed the knowledge base itself
            self._base = self._seen = self.kb._state
            self._unseen = {**dict.fromkeys(self._plus, True), **dict.fromkeys(self._minus, False)}
        if self._unseen:
            plus, minus = (
                Input(facts=[f for f, added in self._unseen.items() if added is way]) for way in (True, False)
            )
            self._seen = attempt(self.engine, self._seen, plus, minus, (), "auto").after
            self._unseen = {}
        return self._seen

    def commit(self, prefixes: Mapping[str, str]) -> None:
        """One change of the knowledge base; if it is refused, everything is as it was."""
        if self or prefixes:
            declared = "".join(f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in prefixes.items())
            self.kb.apply(add=[list(self._plus), declared], remove=list(self._minus))
        self.forget()
