"""The memory budget: every large allocation is counted before it is made.

On sorted columns the exact size of a join is known before it is carried out. What fits a block is done at once, what
does not is done in blocks, and what cannot fit at all is refused with the numbers, before the system kills the process.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from dataclasses import dataclass

import pyarrow as pa

from tidelog.errors import LimitError

_QUERY_BLOCK = 8 << 20  # bytes
_SMALL = 4 << 20  # less is not worth asking the system; small claims are added up by the caller


@dataclass(frozen=True, slots=True)
class Budget:
    """At most `limit` bytes in the process; joins in blocks of at most `block` bytes."""

    limit: int
    block: int

    def block_rows(self, columns: int) -> int:
        return max(1024, self.block // (8 * max(1, columns)))

    def claim(self, nbytes: int, purpose: str) -> None:
        """Refuse an allocation that would take the process past the limit."""
        if nbytes < _SMALL:
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


@dataclass(frozen=True, slots=True)
class QueryBudget(Budget):
    """The budget of one query, which may have limits of its own; it starts to count when it is made."""

    timeout: float | None  # seconds
    max_memory: int | None  # bytes
    started: float
    held: int  # bytes that the process held then

    @classmethod
    def within(cls, budget: Budget, timeout: float | None, max_memory: int | None) -> QueryBudget:
        """From now on. Blocks are small, so that a limit is noticed soon and a small one does not forbid every join."""
        block = min(budget.block, _QUERY_BLOCK, budget.block if max_memory is None else max_memory // 8)
        return cls(budget.limit, block, timeout, max_memory, time.monotonic(), resident_bytes())

    def claim(self, nbytes: int, purpose: str) -> None:
        self.tick()
        if self.max_memory is not None and resident_bytes() - self.held + nbytes > self.max_memory:
            raise LimitError(
                f"{purpose} needs more than max_memory={self.max_memory} bytes; the query was stopped. "
                "Raise the limit, or make the query more selective."
            )
        Budget.claim(self, nbytes, purpose)

    def tick(self) -> None:
        if self.timeout is not None and time.monotonic() - self.started > self.timeout:
            raise LimitError(
                f"no end after timeout={self.timeout:g} seconds; the query was stopped. "
                "Raise the limit, or make the query more selective."
            )


def give_back() -> None:
    """Hand memory that bulk work no longer needs back to the system: allocators tend to keep it."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def resident_bytes() -> int:
    """The memory this process holds now, without mapped files, which the system can take back (0: it does not say)."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            _, resident, shared, *_ = map(int, statm.read().split())
            return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
