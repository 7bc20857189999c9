"""Plant a fault in a copy of the package and run a quick part of the suite against the copy.

A fault is caught when tests *fail* (exit status 1). A copy that does not even import proves nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.seeded.algorithm_faults import ALGORITHM_FAULTS
from tests.seeded.faults import FAULTS, Fault
from tests.seeded.spark_faults import SPARK_FAULTS
from tests.seeded.store_faults import STORE_FAULTS
from tests.seeded.stream_faults import STREAM_FAULTS

EVERY_FAULT = (*FAULTS, *ALGORITHM_FAULTS, *STORE_FAULTS, *SPARK_FAULTS, *STREAM_FAULTS)

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tidelog"

# Quick, and together they reach every corner; the first failure ends a run.
KERNEL = (
    "tests/kernel",
    "tests/oracle/test_random_programs.py::test_engines_and_clingo_give_the_least_model[0-49]",
    "tests/oracle/test_large_joins.py",
    "tests/oracle/test_random_sets.py",
    "tests/oracle/test_random_verbs.py",
    "tests/engines/local/test_join_cache.py",
    "tests/engines/local/test_rule_grouping.py",
    "tests/engines/local/test_supports.py",
    "tests/engines/local/test_engine_pivoted.py",
    "tests/engines/local/small/test_backward.py",
)
MAINTENANCE = (
    "tests/papers",
    "tests/algorithms/counting/test_kept.py",
    "tests/algorithms/test_budgeted.py",
    "tests/oracle/test_instances_once.py",
    *(
        f"tests/oracle/test_random_histories.py::test_every_algorithm_makes_every_step[{start}-{start + 9}]"
        for start in range(0, 60, 10)
    ),
)
EQUALITY = (
    "tests/algorithms/equality/test_rewriting_queries.py",
    "tests/algorithms/equality/test_maintain_histories.py",
)
ONTOLOGY = ("tests/owl/test_axioms.py", "tests/owl/test_swrl_reader.py")
STORE = (
    *("tests/store/test_refusals.py", "tests/store/test_concurrency.py", "tests/store/test_power_loss.py"),
    *("tests/store/test_corruption.py", "tests/store/test_disk_errors.py", "tests/store/test_crash.py"),
)
SPARK = tuple(
    f"tests/engines/spark/sharded/test_{name}.py"
    for name in ("shard_files", "worker_dictionary", "facts", "plan", "engine_histories")
)
STREAMS = ("tests/streams",)
INGEST = ("tests/engines/spark/ingest/test_ingest.py",)
# The first folder that has the module decides.
SUITES = {
    "algorithms/equality": EQUALITY,
    "algorithms": MAINTENANCE,
    "engines/spark/ingest": INGEST,
    "engines/spark": SPARK,
    "owl": ONTOLOGY,
    "store": STORE,
    "streams": STREAMS,
}
TESTS_FAILED = 1


@contextmanager
def planted(fault: Fault | None) -> Iterator[Path]:
    """A directory that holds a copy of the package with the fault in it, or as it is without one."""
    with TemporaryDirectory() as directory:
        copy = Path(directory) / "tidelog"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        if fault:
            assert occurrences(fault) == 1, f"{fault.name}: its text must occur once in {fault.module}"
            module = copy / fault.module
            module.write_text(module.read_text().replace(fault.old, fault.new))
        yield Path(directory)


def occurrences(fault: Fault) -> int:
    return (PACKAGE / fault.module).read_text().count(fault.old)


def run_suite(fault: Fault | None) -> subprocess.CompletedProcess[str]:
    """Run the quick part of the suite on a copy, in a process of its own."""
    with planted(fault) as source:
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", f"pythonpath={source} .", "--tb=no"]
        command = [sys.executable, "-B", "-m", "pytest", *options, *(suite_for(fault) if fault else KERNEL)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def suite_for(fault: Fault) -> tuple[str, ...]:
    return next((suite for folder, suite in SUITES.items() if fault.module.startswith(f"{folder}/")), KERNEL)


def caught_by(fault: Fault) -> str | None:
    """The test that failed because of the fault, or None if the suite missed it."""
    run = run_suite(fault)
    if run.returncode == 0:
        return None
    assert run.returncode == TESTS_FAILED, f"{fault.name}: the copy did not run\n{run.stdout}{run.stderr}"
    failed = re.search(r"^FAILED (.+?)(?: - .*)?$", run.stdout, re.MULTILINE)
    return failed[1] if failed else "a test"
