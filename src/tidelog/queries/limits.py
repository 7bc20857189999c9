"""The limits of one query: seconds, rows of the answer, bytes of each table of solutions.

`timeout`      the query stops between two blocks of a join, after this many seconds
`max_rows`     the answer may not have more rows
`max_memory`   no table of the query, intermediate or final, may need more bytes; a table is counted before it is made

The bytes are computed from the number of rows and columns (8 bytes each). So a query on the same facts always passes or
always fails, no matter what else the process does. The memory budget of the process is checked as well.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from tidelog import tuning
from tidelog.errors import LimitError
from tidelog.kernel.budget import Budget
from tidelog.settings import Limits

_ADVICE = "the query was stopped. Raise the limit, or make the query more selective."


@dataclass(frozen=True, slots=True)
class QueryBudget(Budget):
    """The memory budget of the process, and the limits of one query; `started` is a time of the monotonic clock."""

    limits: Limits
    started: float

    @classmethod
    def start(cls, budget: Budget, limits: Limits) -> QueryBudget:
        """The budget of a query that starts now."""
        block = budget.block
        if limits.timeout is not None or limits.max_memory is not None:
            block = min(block, tuning.QUERY_BLOCK_BYTES)
        if limits.max_memory is not None:
            block = min(block, max(limits.max_memory // 4, 1))
        return cls(budget.limit, block, limits, time.monotonic())

    def with_block(self, size: int) -> QueryBudget:
        """The same budget and clock, with join blocks of at most `size` bytes."""
        return replace(self, block=min(size, self.block))

    def tick(self) -> None:
        timeout = self.limits.timeout
        if timeout is not None and time.monotonic() - self.started > timeout:
            raise LimitError(f"no end after timeout={timeout:g} seconds; {_ADVICE}")

    def claim(self, nbytes: int, purpose: str, held: int = 0) -> None:
        self.tick()
        most = self.limits.max_memory
        if most is not None and held + nbytes > most:
            needed = f"{purpose} needs {(held + nbytes) / 1e6:,.1f} MB"
            raise LimitError(f"{needed}, more than max_memory={most} bytes; {_ADVICE}")
        Budget.claim(self, nbytes, purpose)

    def claim_table(self, rows: int, columns: int) -> None:
        """Count a table of solutions before it is made."""
        self.claim(8 * rows * (columns + 1), "a table of solutions")

    def check_rows(self, rows: int) -> None:
        """Raise LimitError if an answer of `rows` rows exceeds the limit."""
        most = self.limits.max_rows
        if most is not None and rows > most:
            raise LimitError(f"there are more than max_rows={most} answers; {_ADVICE}")
