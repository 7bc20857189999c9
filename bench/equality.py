"""Equality by rewriting against equality by axioms: facts stored, seconds, and seconds to remove one equality.

Individuals form cliques of 2 to 50. In the data set `asserted` each clique is a ring of `owl:sameAs`, so that it is
still a clique after one removal. In `keyed` the members of a clique have the same mail address, and a rule derives that
they are equal. Each individual has its own name, and one in twenty knows another.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import tidelog
from bench import machine
from bench.report import fill, machine_line, table, write_result
from tidelog.model.terms import OWL, Fact, Term, iri, string

NAME = "equality"
Result = dict[str, Any]

SMALLEST, LARGEST = 2, 50
SIZES = {True: 1_000, False: 10_000}  # individuals of a quick and of a full run
REPEATS = 5

SAME_AS = iri(f"{OWL}sameAs")
KEY = "[?x, owl:sameAs, ?y] :- [?x, <mail>, ?m], [?y, <mail>, ?m] ."
RULES = "[?y, <knownBy>, ?x] :- [?x, <knows>, ?y] . [?x, rdf:type, <Person>] :- [?x, <name>, ?n] ."
AXIOMS = """
    #[name("eq-sym")] [?y, owl:sameAs, ?x] :- [?x, owl:sameAs, ?y] .
    #[name("eq-trans")] [?x, owl:sameAs, ?z] :- [?x, owl:sameAs, ?y], [?y, owl:sameAs, ?z] .
    #[name("eq-rep-s")] [?y, ?p, ?o] :- [?x, owl:sameAs, ?y], [?x, ?p, ?o] .
    #[name("eq-rep-p")] [?s, ?q, ?o] :- [?p, owl:sameAs, ?q], [?s, ?p, ?o] .
    #[name("eq-rep-o")] [?s, ?p, ?y] :- [?x, owl:sameAs, ?y], [?s, ?p, ?x] .
"""


@dataclass(frozen=True)
class Data:
    """Facts and rules. `losses`: for each way to lose an equality, several removals to measure."""

    facts: list[Fact]
    rules: str
    losses: dict[str, list[list[Fact]]]


def cliques(individuals: int) -> Iterator[list[Term]]:
    """The individuals in groups of 2, 3, … 50, 2, 3, …"""
    size, start = SMALLEST, 0
    while start < individuals:
        yield [iri(f"http://example.org/i{i}") for i in range(start, min(start + size, individuals))]
        start, size = start + size, SMALLEST + (size + 1 - SMALLEST) % (LARGEST + 1 - SMALLEST)


def triple(subject: Term, predicate: str, object_: Term) -> Fact:
    return Fact("triple", (subject, iri(predicate), object_))


def about(individuals: list[Term]) -> list[Fact]:
    """A name for each individual, and `knows` for one in twenty."""
    random = Random(0)
    names = [triple(x, "name", string(x)) for x in individuals]
    knowing = [triple(x, "knows", random.choice(individuals)) for x in individuals[::20]]
    return names + knowing


def asserted(individuals: int) -> Data:
    groups = list(cliques(individuals))
    rings = [[Fact("triple", (x, SAME_AS, y)) for x, y in zip(g, [*g[1:], g[0]], strict=True)] for g in groups]
    large = [ring for ring in rings if len(ring) > LARGEST // 2][:REPEATS]
    survives, splits = [[ring[3]] for ring in large], [[ring[1], ring[-1]] for ring in large]
    people = [x for group in groups for x in group]
    return Data(
        about(people) + [fact for ring in rings for fact in ring],
        RULES,
        {"clique survives": survives, "clique splits": splits},
    )


def keyed(individuals: int) -> Data:
    groups = list(cliques(individuals))
    mails = [[triple(x, "mail", string(f"{group[0]}@")) for x in group] for group in groups]
    large = [group for group in mails if len(group) > LARGEST // 2][:REPEATS]
    people = [x for group in groups for x in group]
    facts = about(people) + [fact for group in mails for fact in group]
    return Data(facts, RULES + KEY, {"clique shrinks": [[group[3]] for group in large]})


DATA: dict[str, Callable[[int], Data]] = {"asserted": asserted, "keyed": keyed}
WAYS = {"rewriting": "", "off": AXIOMS}


def run(quick: bool) -> Result:
    """Measure all data sets, and return the result for JSON."""
    versions = {"tidelog": tidelog.__version__}
    results: Result = {"machine": machine.describe(), "versions": versions, "individuals": SIZES[quick], "data": {}}
    for name, make in DATA.items():
        data = make(SIZES[quick])
        results["data"][name] = {way: _measured(name, way, data) for way in WAYS}
        _check(name, results["data"][name])
    return results


def _measured(name: str, way: str, data: Data) -> Result:
    with tidelog.open(equality=way) as kb:
        change = kb.apply(add=data.facts, add_rules=data.rules + WAYS[way])
        result: Result = {
            "seconds": change.seconds,
            "derivations": change.work.derivations,
            "stored": kb.versions()[-1].facts,
            "seen": len(kb.all_facts()),
            "removals": {},
        }
        _say(f"{name}, {way}: {change.seconds:.2f} s, {result['stored']:,} facts stored")
        for loss, removals in data.losses.items():
            for algorithm in ("bf", "dred"):
                result["removals"][f"{loss}, {algorithm}"] = _removed(kb, removals, algorithm)
    return result


def _removed(kb: tidelog.KnowledgeBase, removals: list[list[Fact]], algorithm: str) -> Result:
    """Preview each removal. The median leaves out the first, which also pays for sorting that the others reuse."""
    seconds, lost = [], 0
    for removal in removals:
        start = time.perf_counter()
        change = kb.preview(remove=removal, algorithm=algorithm)
        seconds.append(time.perf_counter() - start)
        lost += len(change.removed)
    return {"seconds": median(seconds[1:] or seconds), "lost": lost}


def _check(name: str, ways: Result) -> None:
    """Raise an error unless both ways show the same numbers of facts, before and after the removals."""
    first, second = ways.values()
    seen = [(r["seen"], {k: v["lost"] for k, v in r["removals"].items()}) for r in (first, second)]
    if seen[0] != seen[1]:
        raise SystemExit(f"{name}: rewriting and axioms disagree: {seen}")


def markdown(result: Result) -> str:
    columns = ("data", "equality", "stored facts", "facts seen", "derivations", "seconds", "ratio")
    parts = [machine_line(result), f"{result['individuals']:,} individuals:", table(columns, _rows(result))]
    parts += ["One equality removed, by `preview`: milliseconds (median):"]
    parts.append(table(("data", "equality", *_losses(result)), _removal_rows(result)))
    return "\n\n".join(parts) + "\n"


def _rows(result: Result) -> Iterator[tuple[str, ...]]:
    for name, ways in result["data"].items():
        for way, found in ways.items():
            ratio = found["seconds"] / ways["rewriting"]["seconds"]
            counts = (f"{found[key]:,}" for key in ("stored", "seen", "derivations"))
            yield (name, _called(way), *counts, f"{found['seconds']:.2f}", f"{ratio:.1f} ×")


def _losses(result: Result) -> list[str]:
    return list(dict.fromkeys(k for ways in result["data"].values() for w in ways.values() for k in w["removals"]))


def _removal_rows(result: Result) -> Iterator[tuple[str, ...]]:
    for name, ways in result["data"].items():
        for way, found in ways.items():
            cells = (found["removals"].get(loss) for loss in _losses(result))
            yield (name, _called(way), *(f"{cell['seconds'] * 1000:,.0f}" if cell else "" for cell in cells))


def _called(way: str) -> str:
    return "axioms" if way == "off" else way


def write(result: Result, folder: Path, name: str) -> None:
    write_result(result, folder, name, markdown(result))


def publish(source: Path, docs: Path) -> None:
    """Rewrite the generated part of `equality.md`, and copy the data next to it."""
    fill(docs / f"{NAME}.md", markdown(json.loads(source.read_text())))
    shutil.copyfile(source, docs / f"{NAME}.json")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
