"""A change that was not made, as a diff: rules, then facts by relation, each that is derived marked as such.

    - flight(berlin, oslo) .
    + flight(berlin, riga) .
    - reach(berlin, bergen) .  % derived

What stands behind `%` is a comment, so the lines of one sign can be read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from tidelog.cli.changes import change_json
from tidelog.cli.output import visible

if TYPE_CHECKING:
    from tidelog.answers import FactAnswers
    from tidelog.change import Change

    Prefixes = Mapping[str, str]

_SORTED = 10_000  # facts of a relation at most


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
