"""Which language a query is written in."""

from __future__ import annotations

import re

PROLOGUE = r"\s*(?:#.*\n\s*|(?:PREFIX\s+\S*|BASE)\s*<[^>]*>\s*)*"
_FORMS = r"(?:PREFIX|BASE|SELECT|ASK|CONSTRUCT|DESCRIBE)(?:[\s{*:?<]|$)|SELECT\((?=[^{]*\{)"  # no pattern has a brace
_SPARQL = re.compile(rf"{PROLOGUE}(?:{_FORMS})", re.IGNORECASE)


def is_sparql(text: str) -> bool:
    """Whether a query is SPARQL, judged by its first word. A pattern starts with a relation and a bracket."""
    return bool(_SPARQL.match(text))
