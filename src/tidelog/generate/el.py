"""A random ontology in EL+ and the rules that classify it: a Datalog workload unlike RDF.

    write(20_000, Path("out"))        out/*.csv and out/el.rls

Relations have 1 to 3 columns, bodies have up to 5 atoms, and several rules are recursive together, like the programs
that the ELK calculus makes of Galen or SNOMED CT. Classes form a hierarchy. Some classes have a part in a class nearer
to the root, and some are defined by such parts, so only classification finds the whole hierarchy. 20,000 classes have
a closure of about two million facts.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

from tidelog.errors import UsageError
from tidelog.generate import write_tables

RULES = "el.rls"
ROLES = 20
ROOT_ROLES = 4  # roles without a parent; the parent of another role i is role i // 2
SECOND_PARENT = 0.05
PARTS = 0.30  # classes with a part
DEFINED = 0.15  # classes defined by a parent and a part
LINKED = 0.25  # axioms `everything with a certain part is in a class`, per class
CHAINS = 30

CsvRow = tuple[str, ...]


def write(classes: int, out: Path, *, seed: int = 0) -> int:
    """Write the ontology as CSV files and the rules into the directory `out`; return the number of input facts."""
    if classes < 2:
        raise UsageError(f"the number of classes must be at least 2, not {classes}")
    relations = _ELOntology(classes, Random(f"{seed} {classes}")).relations()
    return write_tables(out, RULES, relations)


class _ELOntology:
    """Builds the relations of `el.rls`. The parents and the fillers of class i have smaller numbers than i."""

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
        """A random class with about a third of the number, so the depth is logarithmic in the number of classes."""
        return f"C{int(number * (0.2 + 0.4 * self.random()))}"

    def part(self, number: int) -> str:
        name = f"E{len(self.exists)}"
        self.exists.append((name, f"r{self.below(ROLES)}", self.ancestor(number)))
        return name

    def conjunction(self, one: str, other: str) -> str:
        """A new conjunction. It and its second part are on the left of an axiom."""
        name = f"A{len(self.conj)}"
        self.conj.append((name, one, other))
        self.left += [(name,), (other,)]
        return name

    def chains(self) -> list[CsvRow]:
        """Axioms `r after s implies r`, for example: located in a part implies located in the whole."""
        drawn: dict[tuple[int, int], None] = {}
        while len(drawn) < CHAINS:
            drawn[self.below(ROLES), self.below(ROLES)] = None
        return [(f"r{r}", f"r{s}", f"r{r}") for r, s in drawn]
