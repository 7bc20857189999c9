"""Changes as lines: `+ fact .` for what is gained, `- fact .` for what is lost."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from tidelog.cli.knowledge import natural
from tidelog.cli.output import print_json, visible

if TYPE_CHECKING:
    from tidelog.answers import FactAnswers
    from tidelog.change import Change, Difference

    Facts = Change | Difference
    Prefixes = Mapping[str, str]

_SORTED = 10_000  # facts at most


def add_show(parser: ArgumentParser, default: int | None, said: str) -> None:
    parser.add_argument(
        "--show", type=natural, default=default, metavar="N", help=f"facts gained, and lost, to show ({said})"
    )


def print_change(change: Change, prefixes: Prefixes, show: int) -> None:
    """The facts as lines, then one line that says it all."""
    print_lines(change, prefixes, show)
    print(change)


def print_lines(facts: Facts, prefixes: Prefixes, show: int | None) -> None:
    """Facts gained and lost, at most `show` of each; how many more there are is said."""
    for sign, answers in (("-", facts.removed), ("+", facts.added)):
        for line in _shown(answers, prefixes, show):
            print(sign, visible(line))
        if show and len(answers) > show:
            print(f"{sign} … {len(answers) - show:,} more")


def change_json(change: Change, show: int | None) -> dict[str, object]:
    """The fields of a change: counts, and the facts themselves if they are to be shown."""
    return {
        "version": change.version,
        **facts_json(change, show),
        "algorithm": change.algorithm,
        "engine": change.engine,
        "reason": change.reason,
        "work": change.work.figures(),
        "seconds": change.seconds,
    }


def facts_json(facts: Facts, show: int | None) -> dict[str, object]:
    """How many facts were gained and lost, and at most `show` of each (None: all); with 0 only how many."""
    counts: dict[str, object] = {"added": len(facts.added), "removed": len(facts.removed)}
    if show == 0:
        return counts
    shown = {"added_facts": facts.added, "removed_facts": facts.removed}
    return counts | {name: list(_shown(answers, None, show)) for name, answers in shown.items()}


def _shown(answers: FactAnswers, prefixes: Prefixes | None, show: int | None) -> Iterator[str]:
    """At most `show` facts (None: all), in order unless there are very many."""
    texts = answers.texts(prefixes)
    return islice(sorted(texts) if show != 0 and len(answers) <= _SORTED else texts, show)


def report_change(change: Change, prefixes: Prefixes, show: int, *, as_json: bool) -> None:
    """What `load` and `update` print."""
    if as_json:
        print_json(change_json(change, show))
    else:
        print_change(change, prefixes, show)
