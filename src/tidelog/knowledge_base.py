"""The one object users hold: facts, rules, and all that follows from them. It delegates; it decides nothing.

A change is tried (`attempt`), made durable (`commit`), and only then replaces the state, so one that fails anywhere has
changed nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from tidelog.algebra.extended import over
from tidelog.answers import Answers, FactAnswers
from tidelog.attempt import attempt, recomputed
from tidelog.change import Change, Difference
from tidelog.commit import commit, describe
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.equality.modes import MODES, OFF, Mode, mode_of
from tidelog.equality.names import answers as named_answers
from tidelog.errors import UsageError
from tidelog.export import Exported, export
from tidelog.inconsistencies import Inconsistency, inconsistencies
from tidelog.inputs import Input, read_facts, read_files, read_rules
from tidelog.model.vocabulary import TRIPLE
from tidelog.past import difference, state_at
from tidelog.rules.parser import parse_query
from tidelog.rules.safety import check_rules
from tidelog.rules.syntax import Atom, Rule
from tidelog.settings import Settings
from tidelog.state import State, restored
from tidelog.status import Status, status
from tidelog.store.compaction import compact
from tidelog.store.delta import Delta
from tidelog.store.records import Version
from tidelog.store.store import Store, Stored
from tidelog.store.verification import Verification, verify

Kind = Literal["all", "explicit", "derived"]


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

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        path: str | Path | None = None,
        read_only: bool = False,
        allow_cartesian: bool = False,
        strict: bool = False,
        create: bool = True,
        equality: str | None = None,
    ) -> None:
        self._settings = settings or Settings.from_environment()
        self._allow_cartesian = allow_cartesian
        self._strict = strict
        self._read_only = read_only
        self._log: list[Version] = []  # of a knowledge base in memory
        self._store = None if path is None else Store(Path(path), create=create and not read_only)
        self._engine = LocalEngine(self._settings)
        nothing = self._engine.collect(())
        self._state = State(nothing, nothing)
        if self._store is not None:
            self._read_store(self._store.read())
        self._choose_equality(equality)

    def _choose_equality(self, asked: object) -> None:
        """What was asked for, as long as there is nothing yet; afterwards it stays as it was chosen."""
        if asked is not None and asked not in MODES:
            raise UsageError(f"unknown equality {asked!r}; choose one of: {', '.join(MODES)}")
        chosen = self._state.options.get("equality", OFF)
        if asked is not None and asked != chosen:
            if self._state.version:
                raise UsageError(f"this knowledge base was made with equality={chosen!r}; make a new one for {asked!r}")
            self._state = replace(self._state, options={**self._state.options, "equality": asked})

    @property
    def _equality(self) -> Mode:
        return mode_of(self._state.options)

    def _read_store(self, stored: Stored) -> None:
        """Take a version from disk."""
        if stored.dictionary is not self._engine.dictionary:
            self._engine.close()
            self._engine = LocalEngine(self._settings, stored.dictionary)
        self._state = restored(stored, self._state)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release threads, files and locks. The object must not be used afterwards.

        >>> import tidelog
        >>> tidelog.open().close()
        """
        self._engine.close()
        if self._store is not None:
            self._store.close()

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

    @property
    def options(self) -> Mapping[str, object]:
        """What is kept besides facts and rules: `strict`, and `ruleset`, the name of the rule set it was made with."""
        return self._state.options

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
        names = [v.name for v in variables]
        if self._equality is not MODES[OFF]:
            facts = named_answers(self._engine, rule, state.I)
            return Answers(names, lambda: facts.columns(""), len(facts), self._engine.dictionary)
        found = self._engine.bindings(over(rule, state.I), variables)
        return Answers(names, lambda: [found.columns[v] for v in variables], found.length, self._engine.dictionary)

    def facts(self, predicate: str, kind: Kind = "all") -> Answers:
        """The facts of one predicate: all, only the explicit ones, or only those that are derived and not explicit.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) . q(a) . q(b) .", add_rules="q(?x) :- p(?x) . q(c) :- p(?x) .")
        >>> sorted(kb.facts("q")), sorted(kb.facts("q", kind="derived"))
        ([('a',), ('b',), ('c',)], [('c',)])
        """
        name = self._expand(predicate)
        return self._answers(self._of_kind(kind, name), name)

    def _answers(self, facts: LocalFacts, name: str) -> Answers:
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

    def inconsistencies(self, limit: int | None = None) -> list[Inconsistency]:
        """The matches of constraints that are reported, not refused: `#[report]`, as in OWL 2 RL; `limit` of each.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="parent(ann, ann) .", add_rules='#[name("own parent")] #[report] :- parent(?x, ?x) .')
        >>> [(i.name, i.facts) for i in kb.inconsistencies()]
        [('own parent', [('parent', 'ann', 'ann')])]
        """
        rules = self._equality.rules(self._engine, self.rules, self._state.I)
        return inconsistencies(self._engine, rules, self._state.I, limit)

    def export(
        self,
        out: str | Path,
        format: str | None = None,
        kind: Kind = "all",
        *,
        relations: Iterable[str] | None = None,
        overwrite: bool = False,
    ) -> list[Exported]:
        """Write facts to files: "nt", "nq", "ttl", "trig", "rdf", "jsonld" the triples, "csv", "tsv", "parquet" all.

        The format may be told by the name of `out`. Several relations become a folder with one file each.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) . q(b, 1) .")
        >>> [(w.predicate, w.facts) for w in kb.export(tempfile.mkdtemp() + "/out", format="csv")]
        [('p', 1), ('q', 1)]
        """
        facts = self._of_kind(kind)
        chosen = facts.predicates() if relations is None else dict.fromkeys(map(self._known, relations))
        return export({p: self._answers(facts, p) for p in sorted(chosen)}, Path(out), format, overwrite=overwrite)

    def status(self) -> Status:
        """Version, digest, and how many facts there are of which relation.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) .")
        >>> kb.status().version, kb.status().explicit
        (1, 1)
        """
        return status(self._state, self._of_kind("all"), self._store)

    def digest(self) -> str:
        """32 hexadecimal digits; equal for knowledge bases with equal facts (explicit and all) and rules.

        >>> import tidelog
        >>> one, other = tidelog.open(), tidelog.open()
        >>> _ = one.apply(add="p(a) . p(b) ."), other.apply(add="p(b) ."), other.apply(add="p(a) .")
        >>> one.digest() == other.digest()
        True
        """
        return self._state.digest()

    def versions(self) -> list[Version]:
        """Every version that can still be read: when, what, which algorithm, how many facts gained and lost.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) .", message="first")
        >>> [(v.version, v.message, v.added, v.removed) for v in kb.versions()]
        [(1, 'first', 1, 0)]
        """
        return list(self._log) if self._store is None else self._store.versions()

    def at(self, version: int) -> KnowledgeBase:
        """The knowledge base as it was at a version on disk; it can be queried, and not changed.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) ."), kb.apply(remove="p(a) .")
        >>> list(kb.at(1).query("p(?x)")), list(kb.query("p(?x)"))
        ([('a',)], [])
        """
        past = KnowledgeBase(self._settings, read_only=True)
        past._engine = LocalEngine(self._settings, self._engine.dictionary)
        past._state = state_at(self._on_disk(), self._state, version)
        return past

    def diff(self, older: int, newer: int) -> Difference:
        """What changed between two versions on disk: facts gained and lost, rules added and removed.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) . p(b) ."), kb.apply(remove="p(a) .", add="p(c) .")
        >>> sorted(kb.diff(1, 2).added), sorted(kb.diff(2, 1).added)
        ([('p', 'c')], [('p', 'a')])
        """
        return difference(self._on_disk(), self._engine, self._state, older, newer)

    def refresh(self) -> int:
        """Move to the newest version on disk, which another process may have made; gives its number.

        >>> import tidelog, tempfile
        >>> path = tempfile.mkdtemp() + "/x.kb"
        >>> writer, reader = tidelog.open(path), tidelog.open(path)
        >>> _ = writer.apply(add="p(a) .")
        >>> reader.version, reader.refresh(), len(reader.facts("p"))
        (0, 1, 1)
        """
        if self._store is not None and self._store.newest() != self._state.version:
            self._read_store(self._store.advance(self._state.stored()))
        return self.version

    def compact(self, keep: int | None = None) -> None:
        """Fold all changes into one set of files; with `keep`, forget all but so many versions before the newest.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) ."), kb.apply(add="p(b) .")
        >>> kb.compact(keep=1)
        >>> [v.version for v in kb.versions()], len(kb.facts("p"))
        ([2], 2)
        """
        store = self._on_disk()
        self._start_writing()
        compact(store, self._state.stored(), self.version if keep is None else keep)

    def verify(self, recompute: bool = False) -> Verification:
        """Read everything on disk again and check it; `recompute` also derives everything again and compares.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
        >>> kb.verify(recompute=True).ok
        True
        """
        report = verify(self._on_disk())
        if not recompute:
            return report
        I, again = self._state.I, recomputed(self._engine, self._state)
        wrong = len(again - I) + len(I - again)
        problems = [f"{wrong} facts are not what the rules give"] if wrong else []
        return replace(report, recomputed=True, problems=[*report.problems, *problems])

    def _on_disk(self) -> Store:
        if self._store is None:
            raise UsageError('only a knowledge base on disk keeps its past; open it with a path: tidelog.open("x.kb")')
        return self._store

    def _of_kind(self, kind: Kind, predicate: str | None = None) -> LocalFacts:
        if kind not in ("all", "explicit", "derived"):
            raise UsageError(f'kind is {kind!r}; expected "all", "explicit" or "derived"')
        state = self._state
        E, some = (S if predicate is None else S.only(predicate) for S in (state.E, state.I))
        if kind == "explicit":
            return E
        I = self._equality.facts(self._engine, state.I, some)
        return I if kind == "all" else I - E

    def _known(self, predicate: str) -> str:
        """The full name of a relation that has facts or rules."""
        name = self._expand(predicate)
        known = {**self._state.I.arities(), **self._state.arities}
        if name not in known:
            raise UsageError(f"there is no relation {predicate}; there are: {', '.join(sorted(known)) or 'none'}")
        return name

    def _expand(self, predicate: str) -> str:
        prefix, colon, local = predicate.partition(":")
        known = self._state.prefixes.get(prefix)
        return known + local if colon and known is not None else predicate.removeprefix("<").removesuffix(">")

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

    def _start_writing(self) -> None:
        """Become the one writer, of the newest version."""
        if self._read_only:
            raise UsageError("this knowledge base was opened to be read only")
        if self._store is not None and self._store.start_writing():
            self._read_store(self._store.advance(self._state.stored()))

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


def open(
    path: str | Path | None = None,
    *,
    read_only: bool = False,
    strict: bool = False,
    create: bool = True,
    equality: str | None = None,
) -> KnowledgeBase:
    """The knowledge base in a directory, which is made if there is none; without a path, a new one in memory.

    With `create=False` a directory without a knowledge base is an error, so that a mistyped path is noticed.

    `strict` refuses changes that lead to new inconsistencies, which are else only listed (`inconsistencies`).
    `equality="rewriting"` lets one term stand for all that `owl:sameAs` makes equal; else ("off") it is a property like
    any other. A knowledge base keeps what it was made with.

    It shows the newest version of when it was opened; `refresh` moves on. Any number of processes may read while one
    writes: the first change takes the lock, and `close` gives it back.

    >>> import tidelog, tempfile
    >>> path = tempfile.mkdtemp() + "/family.kb"
    >>> with tidelog.open(path) as kb:
    ...     _ = kb.apply(add="parent(ann, bob) .")
    >>> with tidelog.open(path) as kb:
    ...     list(kb.facts("parent"))
    [('ann', 'bob')]
    """
    return KnowledgeBase(path=path, read_only=read_only, strict=strict, create=create, equality=equality)


def _column_names(predicate: str, arity: int) -> list[str]:
    return ["subject", "predicate", "object"] if predicate == TRIPLE else [f"arg{i + 1}" for i in range(arity)]
