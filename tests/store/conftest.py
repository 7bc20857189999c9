"""The folder that stores under test are in, and the fault injector."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.shim import build, missing

MEMORY = Path("/dev/shm")  # syncing there costs nothing; what it means is simulated


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An empty folder, in memory where that is possible."""
    if not (MEMORY.is_dir() and os.access(MEMORY, os.W_OK)):
        yield tmp_path
        return
    made = Path(tempfile.mkdtemp(prefix="tidelog-test-", dir=MEMORY))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fault injector, built."""
    if reason := missing():
        pytest.skip(reason)
    return build(tmp_path_factory.mktemp("shim"))
