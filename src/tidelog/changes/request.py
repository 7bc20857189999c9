"""A change as it is asked for: what to add and remove, and how to carry it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tidelog.changes.inputs import Input, read_facts, read_rules
from tidelog.changes.progress import Progress, no_progress
from tidelog.errors import UsageError
from tidelog.formats import BAD_LINES, FAIL, QUARANTINE, BadLineCollector, is_prefix, written_aside
from tidelog.rules.syntax import Rule


@dataclass(frozen=True, slots=True)
class ChangeOptions:
    """How to carry out a change.

    `progress` is called with the name of each step. `quarantine` is the file for bad lines, with
    bad_lines="quarantine". `strict` refuses what is otherwise only reported. `settings` are stored with the
    knowledge base from this change on.
    """

    algorithm: str = "auto"
    engine: str = "auto"
    master: str | None = None
    bad_lines: str = FAIL
    quarantine: Path | None = None
    progress: Progress = no_progress
    message: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    strict: bool = False
    allow_cartesian: bool = False

    def __post_init__(self) -> None:
        if self.bad_lines not in BAD_LINES:
            raise UsageError(f"unknown bad_lines={self.bad_lines!r}; choose one of: {', '.join(BAD_LINES)}")
        if (self.bad_lines == QUARANTINE) != (self.quarantine is not None):
            raise UsageError(
                'name a file for bad lines with bad_lines="quarantine", and only then: quarantine="bad.jsonl"'
            )

    def without_bad_lines(self) -> ChangeOptions:
        """The same options; the first bad line is an error."""
        return self if self.bad_lines == FAIL else replace(self, bad_lines=FAIL, quarantine=None)

    @contextmanager
    def bad_line_collector(self) -> Iterator[BadLineCollector | None]:
        """The collector that readers call for each bad line; None if the first bad line is an error."""
        if self.bad_lines == FAIL:
            yield None
        elif self.quarantine is None:
            yield BadLineCollector()
        else:
            with written_aside(self.quarantine) as stream:
                yield BadLineCollector(stream)


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """Facts and rules to add and to remove in one atomic step. The rules of `add` are added too."""

    add: Input = field(default_factory=Input)
    remove: Input = field(default_factory=Input)
    remove_rules: tuple[Rule, ...] = ()
    options: ChangeOptions = field(default_factory=ChangeOptions)
    remove_prefixes: tuple[str, ...] = ()
    replaced: tuple[str, ...] | None = None  # relations that become what `add` holds; (): those that `add` has

    def nbytes(self) -> int:
        """About how many bytes of files the request reads."""
        return self.add.nbytes() + self.remove.nbytes()

    @property
    def remote(self) -> str:
        """The address of data that only Spark can read; '' if there is none."""
        return self.add.remote or self.remove.remote


def prefix_request(
    prefixes: Mapping[str, str | None], declared: Mapping[str, str], options: ChangeOptions
) -> ChangeRequest:
    """The request to add or replace prefixes of `declared`, and to remove those that are None."""
    added = {prefix: iri for prefix, iri in prefixes.items() if iri is not None}
    for prefix, iri in added.items():
        if not is_prefix(prefix, iri):
            raise UsageError(
                f"{prefix}: <{iri}> is no prefix; expected a name and an IRI, such as ex http://example.org/"
            )
    removed = tuple(prefix for prefix, iri in prefixes.items() if iri is None)
    for prefix in removed:
        if prefix not in declared:
            known = ", ".join(f"{p}:" for p in declared) or "none"
            raise UsageError(f"the prefix {prefix}: is not declared; declared are: {known}")
    return ChangeRequest(Input(prefixes=added), options=options, remove_prefixes=removed)


def read_request(
    add: object,
    remove: object,
    add_rules: object,
    remove_rules: object,
    prefixes: Mapping[str, str],
    options: ChangeOptions,
) -> ChangeRequest:
    """The request for what a user gave to `apply` or `preview`; texts may use the `prefixes`."""
    added, rules = read_facts(add, prefixes), read_rules(add_rules, prefixes)
    added.rules += rules.rules
    added.notes += rules.notes
    added.prefixes |= rules.prefixes
    return ChangeRequest(added, read_facts(remove, prefixes), tuple(read_rules(remove_rules, prefixes).rules), options)
