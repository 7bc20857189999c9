"""Changes as lines: `+ fact .` for a fact gained, `- fact .` for a fact lost. First rules, then facts by relation.

    - flight(berlin, oslo) .
    + flight(berlin, riga) .
    - reach(berlin, bergen) .  % derived

`%` starts a comment, so the lines of one sign, without the sign, can be loaded again.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from tidelog.cli.commands import natural
from tidelog.cli.output import styled, visible

if TYPE_CHECKING:
    from tidelog.changes.constraints import Inconsistency
    from tidelog.changes.result import Change, Difference
    from tidelog.queries.answers import FactAnswers
    from tidelog.rules.syntax import Rule

    Facts = Change | Difference
    Prefixes = Mapping[str, str]

_SORTED = 10_000  # facts at most
_COLOURS = {"-": "red", "+": "green"}
_CONTRADICTIONS = 3  # that are printed after a change


def add_show(parser: ArgumentParser, default: int | None, said: str) -> None:
    parser.add_argument(
        "--show", type=natural, default=default, metavar="N", help=f"facts gained, and lost, to show ({said})"
    )


def print_change(change: Change, prefixes: Prefixes, show: int) -> None:
    """Print the facts as lines, then a summary line, and the notes on stderr."""
    print_facts(change.removed, change.added, prefixes, show)
    print(change)
    print_inconsistencies(change, prefixes)
    print_notes(change)


def print_inconsistencies(change: Change, prefixes: Prefixes) -> None:
    """Print the contradictions that a change led to, at most a few, and how to see more."""
    from tidelog.rules.printer import format_fact

    found = change.inconsistencies
    for each in found[:_CONTRADICTIONS]:
        facts = " ".join(format_fact(fact, prefixes) for fact in each.matched)
        print(f"inconsistent: {visible(f'{each.name}: {facts}')}")
    if len(found) > _CONTRADICTIONS:
        print(f"inconsistent: {len(found) - _CONTRADICTIONS:,} more; `tidelog inconsistencies` lists them")


def inconsistencies_json(found: Iterable[Inconsistency]) -> list[dict[str, object]]:
    from tidelog.rules.printer import format_fact

    return [{"rule": each.name, "facts": [format_fact(fact) for fact in each.matched]} for each in found]


def print_notes(change: Change) -> None:
    for note in change.notes:
        print(f"note: {note}", file=sys.stderr)


def print_preview(change: Change, prefixes: Prefixes, show: int) -> None:
    """Print the rules and the facts as lines, then what would have been done."""
    print_rules(change.removed_rules, change.added_rules, prefixes)
    print_facts(change.removed, change.added, prefixes, show)
    print(_summary(change))
    print_inconsistencies(change, prefixes)
    print_notes(change)


def print_rules(removed: Iterable[Rule], added: Iterable[Rule], prefixes: Prefixes) -> None:
    from tidelog.rules.printer import format_rule

    for sign, rules in (("-", removed), ("+", added)):
        for rule in rules:
            print_line(sign, format_rule(rule, prefixes))


def print_facts(removed: FactAnswers, added: FactAnswers, prefixes: Prefixes, show: int | None) -> None:
    """Print at most `show` facts of each sign by relation (None: all), and how many more there are."""
    from tidelog.rules.printer import format_predicate

    relations = sorted({**removed.relations(), **added.relations()}) if show != 0 else ()
    left = {"-": show, "+": show}
    for relation in relations:
        for sign, facts in (("-", removed.of(relation)), ("+", added.of(relation))):
            most = left[sign]
            for line in islice(_marked(facts, prefixes), most):
                print_line(sign, line)
            if most is not None:
                if len(facts) > most:
                    print_line(sign, f"% {len(facts) - most:,} more of {format_predicate(relation, prefixes)}")
                left[sign] = most - min(len(facts), most)


def print_line(sign: str, line: str) -> None:
    """Print a line of a change, in the colour of its sign."""
    print(styled(f"{sign} {visible(line)}", _COLOURS[sign], sys.stdout))


def _marked(facts: FactAnswers, prefixes: Prefixes) -> Iterator[str]:
    """The facts as lines, sorted unless there are very many. Derived ones say so."""
    texts = zip(facts.texts(prefixes), facts.asserted, strict=True)
    ordered = sorted(texts) if len(facts) <= _SORTED else texts
    return (text if explicit else f"{text}  % derived" for text, explicit in ordered)


def change_json(change: Change, show: int | None) -> dict[str, object]:
    """The fields of a change for JSON: counts, and at most `show` facts (None: all, 0: none)."""
    return {
        "version": change.version,
        **facts_json(change, show),
        "algorithm": change.algorithm,
        "engine": change.engine,
        "reason": change.reason,
        "work": change.work.figures(),
        "seconds": change.seconds,
        **({"notes": list(change.notes)} if change.notes else {}),
        **({"inconsistencies": inconsistencies_json(change.inconsistencies)} if change.inconsistencies else {}),
    }


def facts_json(facts: Facts, show: int | None) -> dict[str, object]:
    """The numbers of facts gained and lost, and at most `show` facts of each (None: all, 0: none)."""
    counts: dict[str, object] = {"added": len(facts.added), "removed": len(facts.removed)}
    if show == 0:
        return counts
    shown = {"added_facts": facts.added, "removed_facts": facts.removed}
    return counts | {name: _shown(answers, show) for name, answers in shown.items()}


def _shown(answers: FactAnswers, show: int | None) -> list[str]:
    """At most `show` facts (None: all), sorted unless there are very many."""
    texts = answers.texts()
    return list(islice(sorted(texts) if len(answers) <= _SORTED else texts, show))


def _summary(change: Change) -> str:
    would = f"nothing was changed; version {change.version} would be +{len(change.added)} -{len(change.removed)} facts"
    if change.predicted is None:
        return would
    return f"{would}, {change.work.derivations:,} derivations ({change.predicted.derivations:,} predicted)"


def preview_json(change: Change, show: int) -> dict[str, object]:
    """The fields of a change, and those that only a preview has."""
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
