"""What a change did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tidelog.algebra.engine import Work
from tidelog.changes.constraints import Inconsistency
from tidelog.queries.answers import FactAnswers
from tidelog.queries.notebook import headline_html, lines_html, table_html
from tidelog.rules.syntax import Rule
from tidelog.store.records import Version

_SHOWN = 20  # versions in a notebook


@dataclass(frozen=True, slots=True)
class Prediction:
    """An estimate of what a change would take, and of how many facts would be gained and lost, explicit ones included.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="p(a) . p(b) .", add_rules="q(?x) :- p(?x) .")
    >>> print(kb.predict(add="p(c) .", remove="p(a) ."))
    about 2 derivations, +2 -2 facts
    """

    derivations: int
    added: int
    removed: int

    def __str__(self) -> str:
        return f"about {self.derivations:,} derivations, +{self.added:,} -{self.removed:,} facts"


@dataclass(frozen=True, slots=True)
class Change:
    """The net effect of one atomic change.

    `added` and `removed` are the facts gained and lost by the materialisation, explicit and derived together. A preview
    has also `predicted`, an estimate of its `work` made beforehand. `notes` are sentences about what is probably not
    meant, such as a header that was read as a fact. `inconsistencies` are the contradictions that the change led
    to; they are searched when they are first read, from the facts that the change added and removed.

    >>> import tidelog
    >>> change = tidelog.open().apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
    >>> len(change.added), len(change.removed), change.version
    (2, 0, 1)
    """

    version: int
    added: FactAnswers
    removed: FactAnswers
    algorithm: str
    engine: str
    reason: str
    work: Work
    seconds: float
    predicted: Prediction | None = None
    added_rules: tuple[Rule, ...] = ()
    removed_rules: tuple[Rule, ...] = ()
    notes: tuple[str, ...] = ()  # sentences about what is probably not meant
    bad_lines: int = 0  # of files, that were left out because they could not be read
    inconsistencies: Sequence[Inconsistency] = field(default=(), repr=False, compare=False)

    def __str__(self) -> str:
        return (
            f"version {self.version}: +{len(self.added)} -{len(self.removed)} facts in {self.seconds:.3f} s, "
            f"{self.algorithm} on {self.engine} ({self.reason}), {self.work.derivations} derivations"
        )

    def _repr_html_(self) -> str:
        return _change_html(str(self), self)


@dataclass(frozen=True, slots=True)
class Difference:
    """What is in one version and not in another: facts of the materialisation, and rules.

    >>> import tidelog, tempfile
    >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
    >>> _ = kb.apply(add="p(a) ."), kb.apply(add_rules="q(?x) :- p(?x) .")
    >>> difference = kb.diff(1, 2)
    >>> list(difference.added), [str(rule) for rule in difference.added_rules]
    ([('q', 'a')], ['q(?x) :- p(?x) .'])
    """

    older: int
    newer: int
    added: FactAnswers
    removed: FactAnswers
    added_rules: tuple[Rule, ...]
    removed_rules: tuple[Rule, ...]
    added_explicit: FactAnswers  # facts that are explicit in the newer version only
    removed_explicit: FactAnswers

    def _repr_html_(self) -> str:
        counts = f"+{len(self.added)} -{len(self.removed)} facts"
        return _change_html(f"from version {self.older} to version {self.newer}: {counts}", self)


def _change_html(headline: str, change: Change | Difference) -> str:
    rules = lines_html(map(str, change.removed_rules), sign="-") + lines_html(map(str, change.added_rules), sign="+")
    return headline_html(headline) + rules + change.removed.to_html("-") + change.added.to_html("+")


class Versions(list[Version]):
    """Versions, oldest first, which a notebook shows as a table.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="p(a) .", message="first")
    >>> kb.versions().rows()[0][-1]
    'first'
    """

    HEADER = ("version", "time (UTC)", "added", "removed", "facts", "rules", "algorithm", "seconds", "message")

    def rows(self, limit: int | None = None) -> list[tuple[object, ...]]:
        """The columns of `HEADER` for each version, newest first, at most `limit`."""
        return [_version_row(version) for version in self[::-1][:limit]]

    def _repr_html_(self) -> str:
        return table_html(self.HEADER, [list(map(str, row)) for row in self.rows(_SHOWN)], len(self) - _SHOWN)


def _version_row(version: Version) -> tuple[object, ...]:
    when = version.time[:19].replace("T", " ")
    return (
        *(version.version, when, version.added, version.removed, version.facts, version.rules),
        *(version.algorithm, f"{version.seconds:.3f}", version.message),
    )


def only_in(rules: Iterable[Rule], others: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules that the others do not have, whatever their variables are called."""
    keys = {rule.key for rule in others}
    return tuple(rule for rule in rules if rule.key not in keys)
