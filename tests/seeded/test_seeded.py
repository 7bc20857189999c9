"""Every deliberate fault still fits the code; with `--long` (or `make seeded`), the suite catches it."""

from __future__ import annotations

import pytest

from tests.seeded.faults import Fault
from tests.seeded.plant import EVERY_FAULT, caught_by, occurrences, run_suite


@pytest.mark.parametrize("fault", EVERY_FAULT, ids=lambda fault: fault.name)
def test_the_text_it_replaces_occurs_once(fault: Fault) -> None:
    assert fault.new != fault.old
    assert occurrences(fault) == 1, f"{fault.module} has changed: write the fault anew, or drop it if it cannot happen"


@pytest.mark.usefixtures("long_tier")
def test_the_copy_without_a_fault_passes() -> None:
    run = run_suite(None)
    assert run.returncode == 0, run.stdout


@pytest.mark.usefixtures("long_tier")
@pytest.mark.parametrize("fault", EVERY_FAULT, ids=lambda fault: fault.name)
def test_the_suite_catches_it(fault: Fault) -> None:
    assert caught_by(fault), f"no test noticed: {fault.why}"
