"""The input and the result of a measurement. Both are sent between processes as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class Case:
    """A program and its data in a folder. RDF workloads have `data`; other programs import their data themselves."""

    name: str
    folder: str
    program: str
    counted: tuple[str, ...]  # the predicates whose sizes are compared between engines
    data: str | None = None  # N-Triples
    ontology: str | None = None  # for engines that read an ontology instead of rules

    @property
    def program_path(self) -> Path:
        return Path(self.folder, self.program)

    @property
    def data_path(self) -> Path:
        assert self.data is not None, f"{self.name} has no RDF data"
        return Path(self.folder, self.data)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        fields = json.loads(text)
        return cls(**{**fields, "counted": tuple(fields["counted"])})


@dataclass
class Measure:
    """One run of one engine: the seconds of each phase, and the number of facts of each counted predicate."""

    seconds: dict[str, float]
    facts: dict[str, int]
    derivations: int | None = None
    rounds: int | None = None
    peak_bytes: int = 0
    memory: dict[str, int] = field(default_factory=dict)  # of the open knowledge base, in bytes, by kind

    @property
    def total(self) -> float:
        return sum(self.seconds.values())
