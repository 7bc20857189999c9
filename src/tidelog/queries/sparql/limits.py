"""Watches what a query uses: time, rows of the answer, memory. Passing a limit is an error that names it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from tidelog.errors import LimitError
from tidelog.kernel.budget import Budget
from tidelog.settings import Limits


@dataclass(slots=True)
class Guard:
    """Watches the limits of one query."""

    limits: Limits
    budget: Budget  # of the process
    started: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Between blocks: is there time left?"""
        seconds = self.limits.timeout
        if seconds is not None and time.monotonic() - self.started > seconds:
            raise LimitError(
                f"the query was stopped after {seconds:g} seconds, its time limit; allow more with timeout=…, or make "
                "it more selective"
            )

    def answer(self, rows: int) -> None:
        """The answer has so many rows so far."""
        most = self.limits.max_rows
        if most is not None and rows > most:
            raise LimitError(
                f"the answer has more than {most:,} rows, its row limit; allow more with max_rows=…, or add LIMIT"
            )

    def claim(self, rows: int, columns: int) -> None:
        """Before a table of solutions is made."""
        self.check()
        needed, most = 8 * rows * (columns + 1), self.limits.max_memory
        if most is not None and needed > most:
            raise LimitError(
                f"{rows:,} solutions of a part of the query need {needed / 1e6:,.1f} MB, its memory limit is "
                f"{most / 1e6:,.1f} MB; allow more with max_memory=…, or make it more selective"
            )
        self.budget.claim(needed, "a query")

    def blocks(self, size: int | None = None) -> Guarded:
        """The budget of joins under this watch, in blocks of at most so many bytes."""
        block = self.budget.block if size is None else min(size, self.budget.block)
        if self.limits.max_memory is not None:
            block = min(block, max(self.limits.max_memory // 4, 1))
        return Guarded(self.budget.limit, block, self)


@dataclass(frozen=True, slots=True)
class Guarded(Budget):
    """A budget that looks at the clock whenever it is asked."""

    guard: Guard

    def claim(self, nbytes: int, purpose: str) -> None:
        self.guard.check()
        Budget.claim(self, nbytes, purpose)

    def tick(self) -> None:
        self.guard.check()
