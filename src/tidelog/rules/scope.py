"""What names mean: the prefixes, the base and the parameters declared so far.

As in Nemo, the base is put in front of plain names, of predicates too; `<…>` is always taken as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tidelog.model.terms import Term
from tidelog.model.vocabulary import OWL, RDF, RDFS, XSD

STANDARD_PREFIXES = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD}


@dataclass
class Scope:
    declared: dict[str, str] = field(default_factory=dict)
    base: str = ""
    parameters: dict[str, Term] = field(default_factory=dict)

    def expand(self, prefix: str) -> str | None:
        """The IRI a prefix stands for, or None if it is not declared."""
        return self.declared.get(prefix, STANDARD_PREFIXES.get(prefix))

    def known(self) -> str:
        """The prefixes that may be used, for messages."""
        return ", ".join(f"{p}:" for p in {**STANDARD_PREFIXES, **self.declared})
