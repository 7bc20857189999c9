"""A random ontology in EL+ and the rules that classify it: a Datalog workload unlike RDF.

    write(20_000, Path("out"))        out/*.csv and out/el.rls

Relations of arity 1 to 3, bodies of up to 5 atoms, recursion through several rules at once: the kind of program that
the ELK calculus makes of Galen or SNOMED CT. Classes form a hierarchy; some have a part in a class nearer to the root,
some are defined by such parts, so that the hierarchy is only known after classification. 20,000 classes have a closure
of about two million facts.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from random import Random

from tidelog.errors import UsageError

RULES = "el.rls"
ROLES = 20
ROOT_ROLES = 4  # roles below none; role i is below role i // 2
SECOND_PARENT = 0.05
PARTS = 0.30  # classes with a part
DEFINED = 0.15  # classes defined by a parent and a part
LINKED = 0.25  # classes of which everything with a certain part is a subclass
CHAINS = 30

CsvRow = tuple[str, ...]


def write(classes: int, out: Path, *, seed: int = 0) -> int:
    """Write the ontology as CSV files and the rules into the directory `out`; return the number of input facts."""
    if classes < 2:
        raise UsageError(f"the number of classes must be at least 2, not {classes}")
    relations = _ELOntology(classes, Random(f"{seed} {classes}")).relations()
    out.mkdir(parents=True, exist_ok=True)
    for name, rows in relations.items():
        (out / f"{name}.csv").write_text("".join(f"{','.join(row)}\n" for row in rows), encoding="utf-8")
    text = resources.files("tidelog.generate").joinpath("data", RULES).read_text(encoding="utf-8")
    (out / RULES).write_text(text, encoding="utf-8")
    return sum(len(rows) for rows in relations.values())


class _ELOntology:
    """Builds the relations of `el.rls`. Class i has its parents and the fillers of its parts among smaller numbers."""

    def __init__(self, classes: int, random: Random) -> None:
        self.classes = classes
        self.random = random.random
        self.left: list[CsvRow] = []
        self.told: list[CsvRow] = []
        self.conj: list[CsvRow] = []
        self.exists: list[CsvRow] = []

    def relations(self) -> dict[str, list[CsvRow]]:
        for number in range(1, self.classes):
            self.add_class(number)
        return {
            "class": [(f"C{i}",) for i in range(self.classes)],
            "left": self.left,
            "role": [(f"r{i}",) for i in range(ROLES)],
            "told": self.told,
            "conj": self.conj,
            "exists": self.exists,
            "toldRole": [(f"r{i}", f"r{i // 2}") for i in range(ROOT_ROLES, ROLES)],
            "chain": self.chains(),
        }

    def below(self, number: int) -> int:
        return int(self.random() * number)

    def add_class(self, number: int) -> None:
        name = f"C{number}"
        parent = self.ancestor(number)
        if self.random() < DEFINED:
            definition = self.conjunction(parent, self.part(number))
            self.told += [(name, definition), (definition, name)]
        else:
            self.told.append((name, parent))
        if self.random() < SECOND_PARENT:
            self.told.append((name, self.ancestor(number)))
        if self.random() < PARTS:
            self.told.append((name, self.part(number)))
        if self.random() < LINKED:
            condition = self.part(number)
            self.left.append((condition,))
            self.told.append((condition, self.ancestor(number)))

    def ancestor(self, number: int) -> str:
        """A class at about a third of the number: the hierarchy is as deep as the logarithm of its size."""
        return f"C{int(number * (0.2 + 0.4 * self.random()))}"

    def part(self, number: int) -> str:
        name = f"E{len(self.exists)}"
        self.exists.append((name, f"r{self.below(ROLES)}", self.ancestor(number)))
        return name

    def conjunction(self, one: str, other: str) -> str:
        """One that stands on the left of an axiom, and so do its parts."""
        name = f"A{len(self.conj)}"
        self.conj.append((name, one, other))
        self.left += [(name,), (other,)]
        return name

    def chains(self) -> list[CsvRow]:
        """`r after s is r`: what is located in a part is located in the whole."""
        drawn: dict[tuple[int, int], None] = {}
        while len(drawn) < CHAINS:
            drawn[self.below(ROLES), self.below(ROLES)] = None
        return [(f"r{r}", f"r{s}", f"r{r}") for r, s in drawn]
