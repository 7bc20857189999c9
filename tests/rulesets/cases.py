"""Cases as text: small ontologies in Turtle, and what follows from them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyoxigraph

from tidelog.algebra.engine import Work
from tidelog.algorithms.semi_naive import materialise
from tidelog.changes.constraints import inconsistencies
from tidelog.engines.local.engine import LocalEngine
from tidelog.model.terms import OWL, RDF, RDFS, TRIPLE, XSD, Fact, Term
from tidelog.rules.analysis.safety import check_rules
from tidelog.rules.analysis.strata import Stratum, stratify
from tidelog.rulesets import RuleSet
from tidelog.settings import Settings

Triples = frozenset[tuple[Term, Term, Term]]

SETTINGS = Settings(memory_budget=1 << 30, threads=1)

_PREFIXES = "".join(
    f"@prefix {name}: <{namespace}> .\n"
    for name, namespace in {"": "http://example.org/", "rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD}.items()
)
_LITERAL_SUBJECT = re.compile(r"""(?:^|\.)\s*("[^"]*"(?:\^\^\S+)?|[-\d.e]+)\s""", re.MULTILINE)
_STAND_IN = "http://example.org/literal/"


def turtle(text: str) -> Triples:
    """The triples of a Turtle text without its prefixes. A literal may stand as a subject."""
    subjects: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        subjects.append(match[1])
        return match[0].replace(match[1], f"<{_STAND_IN}{len(subjects) - 1}>", 1)

    plain = _LITERAL_SUBJECT.sub(replaced, text)
    values = [_literal(s) for s in subjects]
    return frozenset(
        (_subject(str(t.subject), values), Term(str(t.predicate)), Term(str(t.object)))
        for t in pyoxigraph.parse(f"{_PREFIXES}{plain}".encode(), pyoxigraph.RdfFormat.TURTLE)
    )


def _literal(text: str) -> Term:
    (triple,) = pyoxigraph.parse(f"{_PREFIXES} :a :b {text} .".encode(), pyoxigraph.RdfFormat.TURTLE)
    return Term(str(triple.object))


def _subject(text: str, values: list[Term]) -> Term:
    found = re.fullmatch(rf"<{_STAND_IN}(\d+)>", text)
    return values[int(found[1])] if found else Term(text)


@dataclass(frozen=True)
class Case:
    title: str
    premises: str
    sections: dict[str, str]

    @property
    def rule(self) -> str:
        """The rule that the case is about."""
        return self.title.partition(":")[0]

    @property
    def options(self) -> dict[str, bool]:
        return dict.fromkeys(self.words("options"), True)

    def words(self, section: str) -> list[str]:
        return self.sections.get(section, "").split()

    def triples(self, section: str) -> Triples:
        return turtle(self.sections.get(section, ""))

    def __str__(self) -> str:
        return self.title


def cases(file: str) -> list[Case]:
    """The cases of a file beside this one."""
    _, *texts = re.split(r"^== ", (Path(__file__).parent / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [_case(text) for text in texts]


def _case(text: str) -> Case:
    head, *sections = re.split(r"^-- ", text, flags=re.MULTILINE)
    title, _, premises = head.partition("\n")
    return Case(title, premises, {name: body for name, _, body in (s.partition("\n") for s in sections)})


def facts(triples: Iterable[tuple[Term, Term, Term]]) -> list[Fact]:
    return [Fact(TRIPLE, triple) for triple in triples]


@lru_cache(maxsize=8)
def strata(rules: RuleSet) -> list[Stratum]:
    """Kept: most cases use the same rules."""
    check_rules(rules)
    return stratify(rules)


def closure(rules: RuleSet, premises: Triples) -> tuple[Triples, list[str]]:
    """All triples that follow, and the names of the rules that report an inconsistency."""
    engine = LocalEngine(SETTINGS)
    I = materialise(engine, strata(rules), engine.fact_set(facts(premises)), Work())
    triples = frozenset(fact.args for fact in I.of_predicate(TRIPLE))
    return triples, sorted({i.name for i in inconsistencies(engine, tuple(rules), I)})  # type: ignore[return-value]
