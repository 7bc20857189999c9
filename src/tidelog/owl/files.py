"""`tidelog.ontology` compiles OWL files and rdflib Graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tidelog import formats
from tidelog.changes.inputs import expand_paths
from tidelog.dictionary.batch import Batch
from tidelog.errors import UsageError
from tidelog.owl import Ontology, compile_ontology
from tidelog.owl.compiler import Equality
from tidelog.owl.expressions import TermTriple


def ontology(*sources: object, equality: Equality = "auto") -> Ontology:
    """Compile OWL 2 RL axioms and SWRL rules to rules with constants (the Description Logic Programs translation).

    `sources` are paths or globs of RDF files (`.ttl .owl .rdf .nt .jsonld` …) and rdflib Graphs. Together they are one
    ontology. The result is a sequence of rules for `add_rules`; `.facts` are the facts about individuals in the
    sources, `.outside` are the axioms without rules, with the reasons. `equality` adds the rules of owl:sameAs: "auto"
    if an axiom derives owl:sameAs, "axioms" always, "none" never (for a knowledge base that rewrites equal terms).

    >>> import tidelog, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pets.ttl")
    >>> _ = path.write_text('''
    ...     @prefix : <http://example.org/pets#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ...     :Dog rdfs:subClassOf :Animal . :owns rdfs:range :Animal .
    ... ''')
    >>> print(tidelog.ontology(path))
    @prefix pets: <http://example.org/pets#> .
    #[name("Dog SubClassOf Animal")] [?x, rdf:type, pets:Animal] :- [?x, rdf:type, pets:Dog] .
    #[name("owns Range Animal")] [?x, rdf:type, pets:Animal] :- [?y, pets:owns, ?x] .
    <BLANKLINE>
    """
    if not sources:
        raise UsageError("ontology needs a path, a glob or an rdflib Graph")
    return compile_ontology((row for source in sources for row in _triples(source)), equality)


def _triples(source: object) -> Iterator[TermTriple]:
    for batch in _batches(source):
        if len(batch.codes) != 3:
            raise UsageError(f"{source}: an ontology is RDF, rows of three; this has {len(batch.codes)} columns")
        yield from batch.rows()  # type: ignore[misc]


def _batches(source: object) -> Iterable[Batch]:
    if isinstance(source, str | Path):
        return (batch for path in expand_paths([source]) for batch in formats.read(path))
    if hasattr(source, "triples") and hasattr(source, "namespaces"):
        return [formats.from_rdflib(source)]
    raise UsageError(f"cannot read an ontology from {type(source).__name__}; give a path, a glob or an rdflib Graph")
