"""Agreement with Nemo: which programs are accepted, and what constants mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.checked import checked
from tidelog.errors import TidelogError
from tidelog.model.terms import to_value
from tidelog.rules.parsing.parser import parse_facts

nemo = pytest.importorskip("nmo_python", reason="compares with Nemo")

LINES = (Path(__file__).parent / "nemo_acceptance.txt").read_text(encoding="utf-8").splitlines()[1:]


def nemo_accepts(program: str) -> bool:
    """Nemo finds programs that are not stratified only when it runs them; endless ones are not run."""
    try:
        engine = nemo.NemoEngine(nemo.load_string(program))
        if "p(?x + 1) :- p(?x)" not in program:
            engine.reason()
    except Exception:
        return False
    return True


def tidelog_accepts(program: str) -> bool:
    try:
        checked(program)
    except TidelogError:
        return False
    return True


@pytest.mark.parametrize("line", LINES)
def test_acceptance(line: str) -> None:
    who, program = line.split(maxsplit=1)
    expected = {"both": (True, True), "neither": (False, False), "tidelog": (True, False), "nemo": (False, True)}[who]
    assert (tidelog_accepts(program), nemo_accepts(program)) == expected


NUMBERS = ["42", "-7", "+911", "007", "0x1F", "0o17", "0b101", "3.14", "1e3", "10.345E6", "-1.5", "-0.0"]


@pytest.mark.parametrize("constant", [*NUMBERS, "true", "false", '"a b"', '"""x "y" z"""'])
def test_constants(constant: str) -> None:
    program = f"p({constant}) ."
    engine = nemo.NemoEngine(nemo.load_string(program))
    engine.reason()
    ((theirs,),) = engine.result("p")
    ours = to_value(parse_facts(program)[0].args[0])
    if isinstance(ours, str):
        theirs = theirs[1:-1].replace('\\"', '"')
    assert (type(theirs), theirs) == (str if isinstance(ours, str) else type(ours), ours)
