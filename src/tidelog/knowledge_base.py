"""The one object users hold: facts, rules, and all that follows from them. It delegates; it decides nothing.

A change reads its input, checks the rules, closes the facts under them, checks the constraints, and only then replaces
the state, so a change that fails anywhere has changed nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from tidelog.algebra.engine import Work
from tidelog.algebra.extended import over
from tidelog.algorithms.layers import Program
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.answers import Answers, FactAnswers
from tidelog.change import Change
from tidelog.choose import choose
from tidelog.constraints import check_constraints
from tidelog.dictionary.batch import Batch
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.errors import InputError, UsageError
from tidelog.inputs import Input, read_facts, read_files, read_rules
from tidelog.model.vocabulary import TRIPLE
from tidelog.rules.parser import parse_query
from tidelog.rules.safety import check_arity, check_rules
from tidelog.rules.syntax import Atom, Rule
from tidelog.settings import Settings

Kind = Literal["all", "explicit", "derived"]


@dataclass(frozen=True)
class State:
    """One version: explicit facts E, materialised facts I, and the rules between them."""

    E: LocalFacts
    I: LocalFacts
    program: Program = field(default_factory=lambda: Program((), ()))  # its rules, unchanged
    arities: Mapping[str, int] = field(default_factory=dict)  # of the predicates in the rules
    prefixes: Mapping[str, str] = field(default_factory=dict)
    version: int = 0
    kept: object = None  # what the algorithm that made this version goes on from, such as counts


class KnowledgeBase:
    """Facts and rules, and every consequence, kept exactly right while both change.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> change = kb.apply(
    ...     add="parent(ann, bob) . parent(bob, cid) .",
    ...     add_rules="ancestor(?x, ?y) :- parent(?x, ?y) . ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .",
    ... )
    >>> sorted(kb.query("ancestor(ann, ?who)"))
    [('bob',), ('cid',)]
    """

    def __init__(self, settings: Settings | None = None, *, allow_cartesian: bool = False) -> None:
        self._engine = LocalEngine(settings)
        nothing = self._engine.collect(())
        self._state = State(nothing, nothing)
        self._allow_cartesian = allow_cartesian

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release threads. The object must not be used afterwards.

        >>> import tidelog
        >>> tidelog.open().close()
        """
        self._engine.close()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in the order they were added; `str(rule)` is its text."""
        return self._state.program.after

    @property
    def version(self) -> int:
        """0 when new; each change that is committed adds one."""
        return self._state.version

    @property
    def prefixes(self) -> Mapping[str, str]:
        """Prefixes declared by the programs that were loaded; queries may use them."""
        return self._state.prefixes

    def load(self, *files: str | Path, engine: str = "auto") -> Change:
        """Load data files and programs (with their imports), all or nothing.

        >>> import tidelog, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "family.rls")
        >>> _ = path.write_text("parent(ann, bob) . child(?y, ?x) :- parent(?x, ?y) .")
        >>> kb = tidelog.open()
        >>> len(kb.load(path).added)
        2
        """
        return self._commit(read_files(files), Input(), (), "auto", engine)

    def apply(
        self,
        add: object = None,
        remove: object = None,
        add_rules: object = None,
        remove_rules: object = None,
        algorithm: str = "auto",
        engine: str = "auto",
    ) -> Change:
        """Add and remove facts and rules in one atomic step; a fact both removed and added stays.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> kb.apply(add={"edge": [("a", "b"), ("b", "c")]}).version
        1
        >>> change = kb.apply(remove="edge(a, b) .", add_rules="reach(?x, ?y) :- edge(?x, ?y) .")
        >>> sorted(change.added), sorted(change.removed)
        ([('reach', 'b', 'c')], [('edge', 'a', 'b')])
        """
        return self._commit(*self._read(add, remove, add_rules, remove_rules), algorithm, engine)

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

    def query(self, text: str) -> Answers:
        """All distinct values of the query's variables, in order of their first appearance.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="age(ann, 42) . age(bob, 7) .")
        >>> list(kb.query("age(?x, ?n), ?n < 18"))
        [('bob', 7)]
        """
        state = self._state
        body, variables = parse_query(text, state.prefixes)
        rule = Rule((Atom("", variables),), tuple(body), cartesian=True)
        check_rules([rule], {**state.I.arities(), **state.arities}, allow_cartesian=True)
        found = self._engine.bindings(over(rule, state.I), variables)
        names = [v.name for v in variables]
        return Answers(names, lambda: [found.columns[v] for v in variables], found.length, self._engine.dictionary)

    def facts(self, predicate: str, kind: Kind = "all") -> Answers:
        """The facts of one predicate: all, only the explicit ones, or only those that are derived and not explicit.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) . q(a) . q(b) .", add_rules="q(?x) :- p(?x) . q(c) :- p(?x) .")
        >>> sorted(kb.facts("q")), sorted(kb.facts("q", kind="derived"))
        ([('a',), ('b',), ('c',)], [('c',)])
        """
        facts = self._of_kind(kind)
        name = self._expand(predicate)
        arity = facts.arities().get(name) or self._state.arities.get(name, 0)
        length = facts.predicates().get(name, 0)
        return Answers(_column_names(name, arity), lambda: facts.columns(name), length, self._engine.dictionary)

    def all_facts(self, kind: Kind = "all") -> FactAnswers:
        """The facts of every predicate, as rows `(predicate, argument, …)`.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
        >>> sorted(kb.all_facts("derived"))
        [('q', 'a')]
        """
        return FactAnswers(self._of_kind(kind))

    def _of_kind(self, kind: Kind) -> LocalFacts:
        if kind not in ("all", "explicit", "derived"):
            raise UsageError(f'kind is {kind!r}; expected "all", "explicit" or "derived"')
        state = self._state
        return state.I if kind == "all" else state.E if kind == "explicit" else state.I - state.E

    def _expand(self, predicate: str) -> str:
        prefix, colon, local = predicate.partition(":")
        known = self._state.prefixes.get(prefix)
        return known + local if colon and known is not None else predicate.removeprefix("<").removesuffix(">")

    def _read(
        self, add: object, remove: object, add_rules: object, remove_rules: object
    ) -> tuple[Input, Input, tuple[Rule, ...]]:
        plus = read_facts(add)
        plus.rules += read_rules(add_rules)
        return plus, read_facts(remove), tuple(read_rules(remove_rules))

    def _commit(self, plus: Input, minus: Input, without: Sequence[Rule], algorithm: str, engine: str) -> Change:
        self._state, change = self._attempt(plus, minus, without, algorithm, engine)
        return change

    def _attempt(
        self, plus: Input, minus: Input, without: Sequence[Rule], algorithm: str, engine: str
    ) -> tuple[State, Change]:
        """The state after a change and its description; nothing is kept if it raises."""
        if engine not in ("auto", "local"):
            raise UsageError(f"unknown engine {engine!r}; choose one of: auto, local")
        start, before = time.perf_counter(), self._state
        ruled = self._with_rules(before, plus.rules, without)
        arities = {**before.E.arities(), **ruled.arities}
        added, removed = self._facts(plus, arities), self._facts(minus, arities)
        E = (before.E - removed) | added
        gone, new = (removed - added) & before.E, added - before.E
        choice = choose(algorithm, len(before.E), len(gone), first=not before.program.after)
        work = Work()
        same = ruled is before
        program = before.program if same else Program(before.program.after, ruled.program.after)
        outcome = ALGORITHMS[choice.algorithm](self._engine, program, E, before.I, gone, new, work, before.kept)
        prefixes = {**before.prefixes, **plus.prefixes}
        after = replace(ruled, E=E, I=outcome.I, version=before.version + 1, prefixes=prefixes, kept=outcome.kept)
        check_constraints(self._engine, after.program.after, after.I)
        self._engine.settle(len(outcome.added) + len(outcome.removed))
        seconds = time.perf_counter() - start
        gained, lost = FactAnswers(outcome.added), FactAnswers(outcome.removed)
        return after, Change(after.version, gained, lost, choice.algorithm, "local", choice.reason, work, seconds)

    def _with_rules(self, state: State, add: Sequence[Rule], remove: Sequence[Rule]) -> State:
        """The state with its rules changed and checked; its facts are as they were."""
        old = state.program.after
        rules = _change_rules(old, add, remove)
        if rules == old:
            return state
        arities = check_rules(rules, state.E.arities(), allow_cartesian=self._allow_cartesian)
        program = Program(rules, rules)
        program.strata  # noqa: B018  refuses rules that cannot be ordered, before anything is done
        return replace(state, program=program, arities=arities)

    def _facts(self, source: Input, arities: dict[str, int]) -> LocalFacts:
        """The facts of an input; `arities` learns what is new and refuses what disagrees."""
        arities |= check_arity(source.facts, arities)
        batches = (batch for parts in source.batches for batch in _checked(parts, arities))
        return self._engine.collect(source.facts) | self._engine.load(batches)


def _checked(batches: Iterable[Batch], arities: dict[str, int]) -> Iterator[Batch]:
    for batch in batches:
        arity = arities.setdefault(batch.predicate, len(batch.codes))
        if arity != len(batch.codes):
            raise InputError(
                f"{batch.predicate} has {arity} arguments elsewhere, but this data gives it {len(batch.codes)} columns"
            )
        yield batch


def open() -> KnowledgeBase:
    """A new knowledge base in memory.

    >>> import tidelog
    >>> with tidelog.open() as kb:
    ...     _ = kb.apply(add="p(a) .")
    """
    return KnowledgeBase()


def _change_rules(rules: Sequence[Rule], add: Iterable[Rule], remove: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules after a change. A rule is the same whatever its variables are called; its attributes may be new."""
    kept = {r.key: r for r in rules}
    for rule in remove:
        if kept.pop(rule.key, None) is None:
            raise UsageError(f"cannot remove a rule that is not there: {rule}")
    for rule in add:
        old = kept.get(rule.key)
        if old is None or (old.bound, old.cartesian) != (rule.bound, rule.cartesian):
            kept[rule.key] = rule
    return tuple(kept.values())


def _column_names(predicate: str, arity: int) -> list[str]:
    return ["subject", "predicate", "object"] if predicate == TRIPLE else [f"arg{i + 1}" for i in range(arity)]
