"""SPARQL 1.1 Query over the facts of `triple`, evaluated on columns of ids; see `docs/sparql.md`."""

from tidelog.queries.sparql.execute import Dataset, evaluate
from tidelog.queries.sparql.solutions import Solutions
from tidelog.queries.sparql.syntax.update_grammar import parse

__all__ = ["Dataset", "Solutions", "evaluate", "parse"]
