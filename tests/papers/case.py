"""Cases as text: one change of a small program, and what a paper says about it.

    # a title; further lines with a # are remarks
    rules         reach(?x, ?y) :- edge(?x, ?y) .
    facts         edge(a, b) . edge(b, c) .
    remove        edge(b, c) .
    lost          reach(b, c) .
    dred D        edge(b, c) . reach(b, c) .
    fp counters   U 2, O 0

The change is `rules` and `facts`, then `add`, `remove`, `add rules`, `remove rules`. What every algorithm must find:
`lost` and `gained` are all the facts that go and come besides those named in `remove` and `add`; `kept` are some that
stay. What one algorithm does: `<algorithm> <set>` is a set of its paper, `<algorithm> untouched` are facts at which it
does not look, `<algorithm> counters` are numbers; an algorithm that cannot run the program is in `refused`. A section
goes on in the lines that are indented below it; an empty line ends a case. To add a case, add it to a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.oracle.histories import State, Step
from tidelog.model.terms import Fact
from tidelog.rules.parsing.parser import parse_facts, parse_rules
from tidelog.rules.syntax import Rule

CHANGE = ("rules", "facts", "add", "remove", "add rules", "remove rules", "lost", "gained", "kept", "refused")


@dataclass(frozen=True)
class Case:
    title: str
    sections: Mapping[str, str]

    def __str__(self) -> str:
        return self.title

    def facts(self, section: str) -> frozenset[Fact]:
        return frozenset(parse_facts(self.sections.get(section, "")))

    def rules(self, section: str) -> tuple[Rule, ...]:
        return tuple(parse_rules(self.sections.get(section, "")))

    @property
    def refused(self) -> list[str]:
        """The algorithms that cannot run the program."""
        return self.sections.get("refused", "").split()

    @property
    def told(self) -> list[tuple[str, str]]:
        """What the case says about single algorithms: an algorithm, and `counters`, `untouched` or a letter."""
        return [(name.partition(" ")[0], name.partition(" ")[2]) for name in self.sections if name not in CHANGE]

    @cached_property
    def before(self) -> State:
        return State.of(self.facts("facts"), self.rules("rules"))

    @cached_property
    def after(self) -> State:
        added, removed = self.rules("add rules"), self.rules("remove rules")
        return self.before.after(Step(self.facts("add"), self.facts("remove"), added, removed))

    def counters(self, algorithm: str) -> dict[str, int]:
        pairs = re.findall(r"(\S.*?) (\d+)(?:, *|$)", self.sections.get(f"{algorithm} counters", ""))
        return {name: int(number) for name, number in pairs}


def cases() -> list[Case]:
    """The cases of all files beside this one."""
    files = sorted(Path(__file__).parent.glob("*.txt"))
    texts = [part for file in files for part in file.read_text(encoding="utf-8").split("\n\n")]
    return [_case(text.strip("\n")) for text in texts]


def _case(text: str) -> Case:
    remarks = [line for line in text.splitlines() if line.startswith("# ")]
    body = "\n".join(line for line in text.splitlines() if not line.startswith("# "))
    sections: dict[str, str] = {}
    for section in re.split(r"\n(?=\S)", body):
        name, _, value = section.partition("  ")
        assert name not in sections, f"{remarks[0]}: {name} twice"
        sections[name.strip()] = value.strip()
    return Case(remarks[0][2:], sections)
