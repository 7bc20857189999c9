"""The queries, from `lubm.rq`."""

from __future__ import annotations

import re
from pathlib import Path

from tidelog.generate.lubm import UB
from tidelog.model.terms import RDF

FILE = Path(__file__).parent / "lubm.rq"
PREFIXES = f"PREFIX rdf: <{RDF}>\nPREFIX ub: <{UB}>\n"


def queries() -> dict[str, str]:
    """Texts by name, `Q1` to `Q14`."""
    _, *parts = re.split(r"^## (\d+)$", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {f"Q{n}": PREFIXES + text for n, text in zip(parts[::2], parts[1::2], strict=True)}
