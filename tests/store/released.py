"""A stored knowledge base of each released format; it must open for ever. `python -m tests.store.released` adds one.

Each has files written by a bulk change and a fold, and changes that are rows of the catalog; the cache is no promise.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from unittest.mock import patch

import tidelog
from tidelog import tuning
from tidelog.store.catalog import FORMAT

RELEASED = Path(__file__).parent / "released"
RULES = """
@prefix ex: <http://example.org/> .
#[name("step")] reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
reach(?x, ?y) :- edge(?x, ?y) .
[?x, rdf:type, ex:Node] :- edge(?x, _) .
alone(?x) :- node(?x), ~edge(?x, ?x) .
degree(?x, #count(?y)) :- edge(?x, ?y) .
:- edge(?x, forbidden) .
"""


def make(path: Path) -> None:
    with (
        patch.object(tuning, "CATALOG_ROWS", 4),
        patch.object(tuning, "COMPACTED_COMMITS", 3),
        tidelog.open(path) as kb,
    ):
        kb.apply(
            add={"edge": [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")], "node": [("a",), ("z",)]},
            add_rules=RULES,
            message="the first",
        )
        for number in range(5):
            kb.apply(add=f'label(n{number}, "Grüße {number}", "{number}"^^xsd:integer, 1.5) .', remove="edge(c, a) .")
        kb.apply(add='edge(d, e) . holds() . [<http://example.org/s>, <http://example.org/p>, "o"@en] .')
        kb.apply(remove="edge(b, c) .", add_rules="#[cartesian] pair(?x, ?y) :- node(?x), node(?y), ?x != ?y .")
    shutil.rmtree(path / "cache")
    shutil.rmtree(path / "pins")


def described(path: Path) -> dict[str, object]:
    """All that can be read from it."""
    with tidelog.open(path) as kb:
        return {
            "digest": kb.digest(),
            "rules": [str(rule) for rule in kb.rules],
            "versions": [[v.version, v.message, v.added, v.removed, v.digest] for v in kb.versions()],
            "facts": sorted(str(kb.all_facts()).splitlines()),
            "explicit": sorted(str(kb.all_facts("explicit")).splitlines()),
            "first": sorted(str(kb.at(1).all_facts()).splitlines()),
        }


def main() -> None:
    folder = RELEASED / str(FORMAT)
    if folder.exists():
        sys.exit(f"{folder} is there already: a released format does not change; raise FORMAT in the catalog")
    folder.mkdir(parents=True)
    make(folder / "kb")
    (folder / "expected.json").write_text(json.dumps(described(folder / "kb"), indent=1, ensure_ascii=False) + "\n")
    for left in ("cache", "pins"):
        shutil.rmtree(folder / "kb" / left, ignore_errors=True)
    for left in ("lock", "acknowledged"):
        (folder / "kb" / left).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
