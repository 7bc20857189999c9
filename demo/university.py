"""`make demo`: generate a university, load it through Spark, change facts and rules; see what changed, and why."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import tidelog
from tidelog.engines.spark.cluster.java import find_java
from tidelog.generate import lubm

PREFIX = f"@prefix ub: <{lubm.UB}> . @prefix ex: <http://example.org/> ."
ADA = "<http://example.org/ada>"
DEPARTMENT = "http://www.Department0.University0.edu"

JOIN = f"""{PREFIX}
[ex:ada, rdf:type, ub:GraduateStudent] .
[ex:ada, ub:memberOf, <{DEPARTMENT}>] .
[ex:ada, ub:takesCourse, <{DEPARTMENT}/GraduateCourse0>] .
[ex:ada, ub:advisor, <{DEPARTMENT}/FullProfessor0>] .
"""

DROP = f"{PREFIX} [ex:ada, ub:takesCourse, <{DEPARTMENT}/GraduateCourse0>] ."

PEERS = f"""{PREFIX}
[?x, ex:sharesAdvisorWith, ?y] :- [?x, ub:advisor, ?p], [?y, ub:advisor, ?p], ?x != ?y .
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "university.kb")
        generate(Path(folder))
        with tidelog.open(path) as kb:
            load(kb, Path(folder))
            change(kb)
        with tidelog.open(path) as kb:
            ask(kb)
            look_back(kb)


def generate(folder: Path) -> None:
    title("Generate one university (LUBM), with its ontology as rules")
    triples = lubm.write(1, folder)
    print(f"{triples:,} triples, {sum(f.stat().st_size for f in folder.iterdir()) / 1e6:.0f} MB")


def load(kb: tidelog.KnowledgeBase, folder: Path) -> None:
    engine = "spark" if find_java() else "local"
    title(f"Load and materialise, {'on Spark' if engine == 'spark' else 'in this process: Spark needs Java'}")
    show(kb.load(folder / "university-data.nt", folder / "univ-bench.rls", engine=engine, message="the university"))
    explicit, everything = len(kb.facts("triple", kind="explicit")), len(kb.facts("triple"))
    print(f"{len(kb.rules)} rules: {explicit:,} facts given, {everything - explicit:,} derived")


def change(kb: tidelog.KnowledgeBase) -> None:
    title("Preview: what would follow if Ada joined? Nothing is changed yet")
    show(kb.preview(add=JOIN))
    title("Add her, and a rule; a continuous query watches what she is")
    watch = kb.watch(f"[{ADA}, rdf:type, ?class]")
    show(kb.apply(add=JOIN, add_rules=PEERS, message="Ada joins"))
    for each in watch:
        print(f"the watch: version {each.version} gives {len(each.added)} classes")
    title("She drops the course: no longer a student by that rule, still a person by another")
    show(kb.apply(remove=DROP, message="she drops a course"))
    for each in watch:
        print("the watch: she is no longer", *(short(f"<{row[0]}>") for row in each.removed))
    title("Why is she still a person?")
    print(kb.explain(f"[{ADA}, rdf:type, ub:Person]").tree())


def ask(kb: tidelog.KnowledgeBase) -> None:
    title("Query: what is Ada now?")
    print(kb.query("[<http://example.org/ada>, rdf:type, ?class]"))
    title("SPARQL: who shares an advisor with her?")
    print(kb.sparql(f"SELECT ?who {{ {ADA} <http://example.org/sharesAdvisorWith> ?who }} ORDER BY ?who LIMIT 3"))
    title("Query: how many people, courses and organisations are known?")
    for kind in ("Person", "Course", "Organization"):
        print(f"{len(kb.query(f'[?x, rdf:type, ub:{kind}]')):>8,} {kind}")


def look_back(kb: tidelog.KnowledgeBase) -> None:
    title("It was closed and opened again; its past is there too")
    for version in kb.versions():
        print(f"version {version.version}: +{version.added:,} -{version.removed:,}  {version.message}")
    show_facts("-", kb.diff(2, 3).removed)
    print(f"at version 1 there were {len(kb.at(1).facts('triple')):,} facts")
    print("verified, and derived again from scratch:", "right" if kb.verify(recompute=True).ok else "WRONG")


def title(text: str) -> None:
    print(f"\n\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else f"\n{text}\n{'-' * len(text)}")


def show(change: tidelog.Change, most: int = 10) -> None:
    """The change in one line, and the facts gained and lost if there are few."""
    print(change)
    for sign, facts in (("+", change.added), ("-", change.removed)):
        if 0 < len(facts) <= most:
            show_facts(sign, facts)


def show_facts(sign: str, facts: tidelog.FactAnswers) -> None:
    print("\n".join(sorted(f"  {sign} {short(line)}" for line in str(facts).splitlines())))


def short(fact: str) -> str:
    """IRIs as a reader would write them."""
    return re.sub(rf"<{re.escape(lubm.UB)}(\w+)>", r"ub:\1", re.sub(r"<http://example.org/(\w+)>", r"ex:\1", fact))


if __name__ == "__main__":
    main()
