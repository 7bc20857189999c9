"""SPARQL 1.1 Query over the facts of `triple`, evaluated on columns of ids; see `docs/sparql.md`."""

from tidelog.sparql.forms import Source, evaluate
from tidelog.sparql.parsing import parse
from tidelog.sparql.solutions import Solutions

__all__ = ["Solutions", "Source", "evaluate", "parse"]
