"""A compiled ontology: its rules, the facts it states about individuals, and what has no rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict, overload

from tidelog.model.facts import Fact
from tidelog.rules.printer import format_rule
from tidelog.rules.scope import STANDARD_PREFIXES
from tidelog.rules.syntax import Rule
from tidelog.rules.tokens import NAME

_NAMESPACE = re.compile(r"<([a-z][\w+.-]*:[^<>\s]*[#/])[\w-]+>")
_PREFIX = re.compile(NAME)


@dataclass(frozen=True, slots=True)
class Outside:
    """An axiom, or a direction of one, that has no rule, and why."""

    axiom: str
    why: str

    def __str__(self) -> str:
        return f"{self.axiom}: {self.why}"


class OntologyChange(TypedDict):
    """What `KnowledgeBase.apply` takes to go from one ontology to another."""

    add: list[Fact]
    remove: list[Fact]
    add_rules: list[Rule]
    remove_rules: list[Rule]


@dataclass(frozen=True)
class Ontology(Sequence[Rule]):
    """Rules, one or more for each axiom. `str(ontology)` is a program that can be saved and edited.

    `facts` are what the ontology itself states about individuals; `outside` lists the axioms that have no rules.
    """

    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...] = ()
    outside: tuple[Outside, ...] = ()

    @cached_property
    def prefixes(self) -> Mapping[str, str]:
        """Short names for the namespaces of the rules, for printing."""
        names = Counter(match[1] for rule in self for match in _NAMESPACE.finditer(repr((rule.heads, rule.body))))
        found: dict[str, str] = {}
        for namespace in (n for n, _ in names.most_common() if n not in STANDARD_PREFIXES.values()):
            stem = "-".join(re.findall(r"[^\W_]+", re.sub(r"\.\w{1,4}$", "", namespace[:-1].rpartition("/")[2])))
            prefix = stem if _PREFIX.fullmatch(stem) and stem not in STANDARD_PREFIXES else "ns"
            found[prefix if prefix not in found else f"{prefix}{len(found)}"] = namespace
        return found

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Rule]: ...
    def __getitem__(self, index: int | slice) -> Rule | Sequence[Rule]:
        return self.rules[index]

    def __str__(self) -> str:
        prefixes = [f"@prefix {prefix}: <{expansion}> ." for prefix, expansion in self.prefixes.items()]
        lines = [*prefixes, *(format_rule(rule, self.prefixes) for rule in self.rules)]
        return "".join(f"{line}\n" for line in lines)

    def changed_to(self, new: Ontology) -> OntologyChange:
        """What to add and remove to put a new ontology in the place of this one: `kb.apply(**old.changed_to(new))`.

        Rules and facts that both have are not in it.
        """
        before, after = {r.key: r for r in self}, {r.key: r for r in new}
        facts, new_facts = dict.fromkeys(self.facts), dict.fromkeys(new.facts)
        return {
            "add": [f for f in new_facts if f not in facts],
            "remove": [f for f in facts if f not in new_facts],
            "add_rules": [r for key, r in after.items() if key not in before],
            "remove_rules": [r for key, r in before.items() if key not in after],
        }
