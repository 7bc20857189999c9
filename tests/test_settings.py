"""Settings: what the environment asks for, what the machine has, and errors that say what is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidelog.errors import UsageError
from tidelog.settings import Settings, available_cores, available_memory, parse_size

SIZES = [
    ("4096", 4096),
    ("500MB", 500_000_000),
    ("8GB", 8_000_000_000),
    ("8 gb", 8_000_000_000),
    ("1.5G", 1_500_000_000),
    ("2GiB", 2 * 2**30),
    ("1T", 10**12),
]


@pytest.mark.parametrize(("text", "size"), SIZES)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1GB", "0", "8 bananas", "1e9", "GB", "nan", "0.1"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match='expected a size above zero such as "8GB"'):
        parse_size(text)


@pytest.mark.parametrize("text", ["0", "-2", "two", "1.5"])
def test_threads_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match=r"TIDELOG_THREADS is .* expected a whole number of at least 1"):
        Settings.from_environment({"TIDELOG_THREADS": text})


def test_the_environment_decides() -> None:
    settings = Settings.from_environment({"TIDELOG_MEMORY": "1GB", "TIDELOG_THREADS": "3"})
    assert (settings.memory_budget, settings.threads) == (10**9, 3)


def test_the_machine_decides_otherwise() -> None:
    settings = Settings.from_environment({})
    assert settings.threads == available_cores()
    assert settings.memory_budget > 0


MACHINES: list[tuple[dict[str, str], int]] = [
    ({"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    2000 kB\n"}, 2000 * 1024),
    (
        {
            "proc/meminfo": "MemAvailable: 2000 kB\n",
            "sys/fs/cgroup/memory.max": "1000000\n",
            "sys/fs/cgroup/memory.current": "400000\n",
        },
        600_000,
    ),
    (
        {
            "sys/fs/cgroup/memory.max": "1000000\n",
            "sys/fs/cgroup/memory.current": "900000\n",
            "sys/fs/cgroup/memory.stat": "anon 5\ninactive_file 300000\n",
        },
        400_000,
    ),
    ({"proc/meminfo": "MemAvailable: 2000 kB\n", "sys/fs/cgroup/memory.max": "max\n"}, 2000 * 1024),
    (
        {
            "proc/meminfo": "MemAvailable: 2000 kB\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "1000",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "2000",
        },
        0,
    ),
    ({}, 4 * 10**9),
]


@pytest.mark.parametrize(("files", "expected"), MACHINES)
def test_available_memory(files: dict[str, str], expected: int, tmp_path: Path) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert available_memory(tmp_path) == expected
