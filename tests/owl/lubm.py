"""The LUBM data that lie beside the repository: queries as patterns of triples, and their published answers."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "shared" / "lubm1"
DATA, ONTOLOGY = FOLDER / "university0.nt.gz", FOLDER / "univ-bench.ttl"
NUMBERS = range(1, 15)
NAMESPACE = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"

needs_lubm = pytest.mark.skipif(not DATA.exists(), reason="the LUBM data are not beside the repository")

Row = tuple[str, ...]


def query(number: int) -> str:
    """A SPARQL query of the benchmark as a query of ours; all 14 are patterns of triples."""
    text = re.sub(r"^#.*$|^\s*#.*$", "", (FOLDER / "queries" / f"{number}.rq").read_text(), flags=re.MULTILINE)
    prefixes = "".join(f"@prefix {p} {iri} . " for p, iri in re.findall(r"PREFIX (\S+) (\S+)", text))
    inside = text[text.index("{") + 1 : text.rindex("}")]
    triples = re.findall(r"(\S+)\s+(\S+)\s+(<[^>]*>|[^\s.<]+)\s*\.?", inside)
    names = dict(re.findall(r"@prefix (\S+): <(\S+)>", prefixes))
    return ", ".join(f"[{', '.join(_full(term, names) for term in triple)}]" for triple in triples)


def _full(term: str, names: dict[str, str]) -> str:
    prefix, colon, local = term.partition(":")
    return f"<{names[prefix]}{local}>" if colon and prefix in names else term


def selected(number: int) -> list[str]:
    """The variables that a query asks for."""
    text = (FOLDER / "queries" / f"{number}.rq").read_text()
    found = re.search(r"SELECT([^{]*?)WHERE", text)
    assert found
    return re.findall(r"\?(\w+)", found[1])


def answers(number: int) -> list[Row]:
    """The published answers, sorted."""
    with (FOLDER / "answers" / f"{number}.csv").open(newline="") as file:
        rows = [tuple(row) for row in csv.reader(file)]
    return sorted(rows[1:])
