"""Record what Nemo answers as the expectations of the cases: `python -m tests.adapters.nemo_runner.record [NAME ...]`.

Fills every `expect` and `export` of a case, or its `nemo` sections where the case says that we differ. Needs the Python
package of Nemo (`nemo-python`); the tests themselves do not.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from pathlib import Path

import nmo_python

from tests.adapters.nemo_runner.case import Case, Row, cases, read_case, read_lines, write_case
from tidelog.model.terms import Term, literal, to_term

# Attributes that Nemo does not know.
_OURS = re.compile(r"#\[(?:bound\([0-9]+\)|cartesian)\]")


def ask_nemo(case: Case, folder: Path) -> tuple[dict[str, set[Row]], dict[str, list[str]]]:
    """The facts of each expected predicate, and the lines of each exported file."""
    text = _OURS.sub("", case.unpack(folder).read_text())
    with contextlib.chdir(folder):
        engine = nmo_python.NemoEngine(nmo_python.load_string(text))
        engine.reason()
        facts = {p: {tuple(map(nemo_term, row)) for row in engine.result(p)} for p in case.nemo or case.expect}
        (folder / "out").mkdir()
        for predicate in case.expect if case.export else ():
            engine.write_result(predicate, nmo_python.NemoOutputManager("out", overwrite=True))
    return facts, {file: read_lines(folder / "out" / file) for file in case.export}


def nemo_term(value: object) -> Term:
    """Nemo gives numbers and booleans as Python's, strings and IRIs as in N-Triples, others as its own literals."""
    if isinstance(value, nmo_python.NemoLiteral):
        return literal(value.value(), value.datatype(), value.language() or "")
    return Term(value) if isinstance(value, str) else to_term(value)


def record(name: str) -> None:
    case = read_case(name)
    with tempfile.TemporaryDirectory() as folder:
        facts, exported = ask_nemo(case, Path(folder))
    if case.differs:
        case.nemo = facts
    else:
        case.expect, case.export = facts, exported
    write_case(name, case)


if __name__ == "__main__":
    for each in sys.argv[1:] or cases():
        record(each)
