"""Changes as lines: `+ fact .` for what is gained, `- fact .` for what is lost.

A change that was not made, as a diff: rules, then facts by relation, each that is derived marked as such.

    - flight(berlin, oslo) .
    + flight(berlin, riga) .
    - reach(berlin, bergen) .  % derived

What stands behind `%` is a comment, so the lines of one sign can be read again.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from tidelog.cli.options import natural
from tidelog.cli.output import print_json, visible

if TYPE_CHECKING:
    from tidelog.changes.result import Change, Difference
    from tidelog.queries.answers import FactAnswers

    Facts = Change | Difference
    Prefixes = Mapping[str, str]
    from tidelog.changes.result import Change

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


def print_preview(change: Change, prefixes: Prefixes, show: int) -> None:
    """At most `show` facts of each sign, and how many more there are."""
    from tidelog.rules.printer import format_predicate, format_rule

    for sign, rules in (("-", change.removed_rules), ("+", change.added_rules)):
        for rule in rules:
            print(sign, format_rule(rule, prefixes))
    left = {"-": show, "+": show}
    relations = sorted({**change.removed.relations(), **change.added.relations()})
    for relation in relations if show else ():
        for sign, facts in (("-", change.removed.of(relation)), ("+", change.added.of(relation))):
            for line in islice(_lines(facts, prefixes), left[sign]):
                print(sign, visible(line))
            if len(facts) > left[sign]:
                print(f"{sign} … {len(facts) - left[sign]:,} more of {format_predicate(relation, prefixes)}")
            left[sign] -= min(len(facts), left[sign])
    print(_summary(change))


def _lines(facts: FactAnswers, prefixes: Prefixes) -> Iterator[str]:
    """In order unless there are very many."""
    texts = zip(facts.texts(prefixes), facts.asserted, strict=True)
    ordered = sorted(texts) if len(facts) <= _SORTED else texts
    return (text if asserted else f"{text}  % derived" for text, asserted in ordered)


def _summary(change: Change) -> str:
    would = f"nothing was changed; version {change.version} would be +{len(change.added)} -{len(change.removed)} facts"
    if change.predicted is None:
        return would
    return f"{would}, {change.work.derivations:,} derivations ({change.predicted.derivations:,} predicted)"


def preview_json(change: Change, show: int) -> dict[str, object]:
    """The fields of a change, and what only a preview has."""
    predicted = change.predicted
    numbers = ("derivations", "added", "removed")
    return {
        **change_json(change, show),
        "added_explicit": sum(change.added.asserted),
        "removed_explicit": sum(change.removed.asserted),
        "added_rules": [str(rule) for rule in change.added_rules],
        "removed_rules": [str(rule) for rule in change.removed_rules],
        "predicted": None if predicted is None else {name: getattr(predicted, name) for name in numbers},
    }
