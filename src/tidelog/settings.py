"""How much of the machine tidelog may use, and how much of that one query. Passed along as values.

TIDELOG_MEMORY=8GB      what joins and indexes may allocate; by default 60% of what is available now
TIDELOG_THREADS=4       by default the cores this process may run on
TIDELOG_SPARK_TIMEOUT=30     the seconds that a Spark master has to answer; 30 by default
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tidelog.errors import UsageError

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]I?)?B?\s*", re.IGNORECASE)
_SHARE_OF_AVAILABLE = 0.6
# Where neither the system nor a container says how much there is.
_FALLBACK_BYTES = 4 * 10**9


@dataclass(frozen=True, slots=True)
class Settings:
    """`memory_budget` bytes may be allocated at a time, on `threads` threads, in pieces of `block_bytes`.

    >>> Settings.from_environment({"TIDELOG_MEMORY": "8GB", "TIDELOG_THREADS": "2"}).memory_budget
    8000000000
    """

    memory_budget: int
    threads: int
    block_bytes: int = 64 * 2**20

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """The settings that TIDELOG_MEMORY and TIDELOG_THREADS ask for, or what suits this machine."""
        memory, threads = environment.get("TIDELOG_MEMORY"), environment.get("TIDELOG_THREADS")
        return cls(
            memory_budget=parse_size(memory, "TIDELOG_MEMORY")
            if memory
            else int(available_memory() * _SHARE_OF_AVAILABLE),
            threads=_parse_threads(threads) if threads else available_cores(),
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one query: seconds, rows of its answer, bytes of each table that it makes (None: no limit)."""

    timeout: float | None = None
    max_rows: int | None = None
    max_memory: int | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and value < 0:
                raise UsageError(f"{name} is {value}; expected 0 or more, or None for no limit")


def parse_size(text: str, name: str = "size") -> int:
    """A number of bytes written for people.

    >>> parse_size("500MB"), parse_size("1.5 GiB"), parse_size("4096")
    (500000000, 1610612736, 4096)
    """
    match = _SIZE.fullmatch(text)
    size = int(float(match[1]) * _UNITS[(match[2] or "").upper()]) if match else 0
    if size <= 0:
        raise UsageError(f'{name} is {text!r}; expected a size above zero such as "8GB", "500MB" or "2GiB"')
    return size


def _parse_threads(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise UsageError(f'TIDELOG_THREADS is {text!r}; expected a whole number of at least 1 such as "4"')
    return int(text)


def spark_timeout(environment: Mapping[str, str] = os.environ) -> float:
    """The seconds that a Spark master has to answer.

    >>> spark_timeout({}), spark_timeout({"TIDELOG_SPARK_TIMEOUT": "2.5"})
    (30.0, 2.5)
    """
    text = environment.get("TIDELOG_SPARK_TIMEOUT") or "30"
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(f'TIDELOG_SPARK_TIMEOUT is {text!r}; expected a number of seconds above zero such as "30"')
    return seconds


def available_cores() -> int:
    """The cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory(root: Path = Path("/")) -> int:
    """The bytes this process can still get: the least of what the system has free and what its container allows."""
    limits = [_system_available(root), _container_available(root)]
    return min((limit for limit in limits if limit is not None), default=_FALLBACK_BYTES)


def _system_available(root: Path) -> int | None:
    match = re.search(r"^MemAvailable:\s+(\d+) kB", _read(root / "proc/meminfo"), re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def _container_available(root: Path) -> int | None:
    """What a control group (version 2 or 1) still allows; None without a limit."""
    groups = root / "sys/fs/cgroup"
    for limit_file, usage_file in (
        (groups / "memory.max", groups / "memory.current"),
        (groups / "memory/memory.limit_in_bytes", groups / "memory/memory.usage_in_bytes"),
    ):
        limit, usage = _read(limit_file).strip(), _read(usage_file).strip()
        if limit.isdecimal() and usage.isdecimal():
            return max(int(limit) - int(usage) + _reclaimable(usage_file.with_name("memory.stat")), 0)
    return None


def _reclaimable(statistics: Path) -> int:
    """Cached file pages count as used, yet the kernel gives them back on demand."""
    match = re.search(r"^(?:total_)?inactive_file (\d+)", _read(statistics), re.MULTILINE)
    return int(match[1]) if match else 0


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
