"""The memory budget: each large allocation is counted before it is made.

On sorted columns the exact size of a join is known before it runs. A join that does not fit into one block runs in
several, and a result that cannot fit into memory is refused with the numbers, before the system kills the process.
"""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass

import pyarrow as pa

from tidelog import tuning
from tidelog.errors import LimitError


@dataclass(frozen=True, slots=True)
class Budget:
    """At most `limit` bytes in the process; joins run in blocks of at most `block` bytes."""

    limit: int
    block: int

    def block_rows(self, columns: int) -> int:
        return max(1024, self.block // (8 * max(1, columns)))

    def claim(self, nbytes: int, purpose: str, held: int = 0) -> None:
        """Refuse an allocation of `nbytes` that would take the process past the limit.

        `held` are bytes that the caller has claimed before for the same table.
        """
        if nbytes < tuning.UNCHECKED_BYTES:
            return
        used = resident_bytes()
        if used + nbytes > self.limit:
            raise LimitError(
                f"{purpose} needs {nbytes / 1e9:.2f} GB more than the {used / 1e9:.2f} GB in use; the memory budget is "
                f"{self.limit / 1e9:.2f} GB. Nothing was changed. Raise it with TIDELOG_MEMORY=16GB, or make the rules "
                "more selective."
            )

    def tick(self) -> None:
        """Called between two blocks of a join, where a query can be stopped."""


def release_unused_memory() -> None:
    """Return unused memory to the system, which allocators tend to keep."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def resident_bytes() -> int:
    """The memory of this process in bytes, without mapped files, which the system can free (0 if unknown)."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            _, resident, shared, *_ = map(int, statm.read().split())
            return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
