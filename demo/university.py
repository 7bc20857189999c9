"""`make demo`: generate a university, load it, reason, change facts and rules, and see exactly what changed."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import tidelog
from tidelog.generate import lubm

PREFIX = f"@prefix ub: <{lubm.UB}> . @prefix ex: <http://example.org/> .\n"

JOIN = (
    PREFIX
    + """
[ex:ada, rdf:type, ub:GraduateStudent] .
[ex:ada, ub:memberOf, <http://www.Department0.University0.edu>] .
[ex:ada, ub:advisor, <http://www.Department0.University0.edu/FullProfessor0>] .
"""
)

LEAVE = PREFIX + "[ex:ada, ub:advisor, <http://www.Department0.University0.edu/FullProfessor0>] ."

COLLEAGUES = (
    PREFIX
    + """
[?x, ex:sharesAdvisorWith, ?y] :- [?x, ub:advisor, ?p], [?y, ub:advisor, ?p], ?x != ?y .
"""
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, tidelog.open() as kb:
        generate(Path(folder))
        load(kb, Path(folder))
        change(kb)
        ask(kb)


def generate(folder: Path) -> None:
    title("Generate one university (LUBM), with its ontology as rules")
    triples = lubm.write(1, folder)
    print(f"{triples:,} triples, {sum(f.stat().st_size for f in folder.iterdir()) / 1e6:.0f} MB")


def load(kb: tidelog.KnowledgeBase, folder: Path) -> None:
    title("Load and materialise")
    show(kb.load(folder / "university-data.nt", folder / "univ-bench.rls"))
    explicit, everything = len(kb.facts("triple", kind="explicit")), len(kb.facts("triple"))
    print(f"{len(kb.rules)} rules: {explicit:,} facts given, {everything - explicit:,} derived")


def change(kb: tidelog.KnowledgeBase) -> None:
    title("Preview: what would follow if Ada joined? Nothing is changed yet")
    show(kb.preview(add=JOIN))
    title("Add her, and a rule")
    show(kb.apply(add=JOIN, add_rules=COLLEAGUES), rows=0)
    title("Her advisor leaves: what is lost, and nothing else")
    show(kb.apply(remove=LEAVE))


def ask(kb: tidelog.KnowledgeBase) -> None:
    title("Query: what is Ada now?")
    print(kb.query("[<http://example.org/ada>, rdf:type, ?class]"))
    title("Query: how many people, courses and organisations are known?")
    for kind in ("Person", "Course", "Organization"):
        print(f"{len(kb.query(f'[?x, rdf:type, ub:{kind}]')):>8,} {kind}")


def title(text: str) -> None:
    print(f"\n\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else f"\n{text}\n{'-' * len(text)}")


def show(change: tidelog.Change, rows: int = 8) -> None:
    """The change in one line, and the first facts gained and lost."""
    print(change)
    for sign, facts in (("+", change.added), ("-", change.removed)):
        if 0 < len(facts) <= rows:
            print("\n".join(f"  {sign} {line}" for line in sorted(str(facts).splitlines())))


if __name__ == "__main__":
    main()
