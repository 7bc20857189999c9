"""A watch: the changes of a query's answers, one for each version that changes them.

`for` reads what there is, `async for` waits for more. A watch with `on_change` calls it instead.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from threading import Condition
from types import TracebackType
from typing import Self

from tidelog.queries.answers import Answers

_LONGEST = 3600.0  # seconds of one wait; a longer one is several
POLL = 0.05  # seconds between two looks at the store for versions of another process


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """The answers that a query gained and lost with one version, and the time of the version.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> watch = kb.watch("age(?who, ?n), ?n > 17")
    >>> _ = kb.apply(add="age(ann, 42) . age(bob, 7) .")
    >>> change = next(watch)
    >>> change.version, list(change.added), list(change.removed)
    (1, [('ann', 42)], [])
    """

    version: int
    time: str
    added: Answers
    removed: Answers


OnChange = Callable[[AnswerChange], object]


class Watch:
    """The changes of a query's answers, oldest first.

    `for` ends when it has read all changes that there are; a later `for` goes on from there. `async for` waits for the
    next change. With `timeout` each of them waits for so many seconds. `close` ends both.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> with kb.watch("reach(a, ?x)") as watch:
    ...     _ = kb.apply(add="edge(a, b) .", add_rules="reach(?x, ?y) :- edge(?x, ?y) .")
    ...     _ = kb.apply(remove="edge(a, b) .")
    ...     [(c.version, list(c.added), list(c.removed)) for c in watch]
    [(1, [('b',)], []), (2, [], [('b',)])]
    """

    def __init__(
        self,
        query: str,
        names: tuple[str, ...],
        method: str,
        poll: Callable[[], bool],
        past: Iterator[AnswerChange],
        timeout: float | None,
        on_change: OnChange | None,
    ) -> None:
        """`poll` reads versions of other processes; it returns False if there can be none. `past` are read first."""
        self.query = query
        self.names = names
        self.method = method  # "from the change", or "asked again and compared" and why
        self.on_change = on_change
        self._poll = poll
        self._past: Iterator[AnswerChange] | None = past
        self._timeout = timeout
        self._arrived = Condition()
        self._changes: deque[AnswerChange] = deque()
        self._wakers: list[Callable[[], object]] = []
        self._error: Exception | None = None
        self._closed = False

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """End the watch. A thread or task that waits for it ends too."""
        with self._arrived:
            self._closed = True
            self._past = None
            self._changes.clear()
            self._wake()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def put(self, change: AnswerChange) -> None:
        """Add the newest change."""
        with self._arrived:
            self._changes.append(change)
            self._wake()

    def fail(self, error: Exception) -> None:
        """End the watch with an error, which the reader gets after the changes before it."""
        with self._arrived:
            self._error = error
            self._wake()

    def _wake(self) -> None:
        self._arrived.notify_all()
        for wake in self._wakers:
            wake()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> AnswerChange:
        change = self.next_within(self._timeout or 0)
        if change is None:
            raise StopIteration
        return change

    def next_within(self, seconds: float) -> AnswerChange | None:
        """The next change; None if there is none within so many seconds, or if the watch was closed."""
        deadline = time.monotonic() + seconds
        while (change := self._take()) is None:
            polls = not self._closed and self._poll()
            with self._arrived:
                left = deadline - time.monotonic()
                if self._is_idle() and (self._closed or left <= 0):
                    return None
                if self._is_idle():
                    self._arrived.wait(min(left, POLL) if polls else min(left, _LONGEST))
        return change

    def wait(self, seconds: float | None = None) -> None:
        """Follow the writer in another process, and call `on_change`, for so many seconds or until the watch is closed.

        Changes made by this object call `on_change` at once; no waiting is needed for them.

        >>> import tidelog, tempfile
        >>> path = tempfile.mkdtemp() + "/x.kb"
        >>> writer, reader = tidelog.open(path), tidelog.open(path)
        >>> watch = reader.watch("p(?x)", on_change=lambda change: print(change.version, list(change.added)))
        >>> _ = writer.apply(add="p(a) .")
        >>> watch.wait(0)
        1 [('a',)]
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while not self._closed:
            left = POLL if deadline is None else deadline - time.monotonic()
            self.next_within(min(max(left, 0), POLL))
            if deadline is not None and left <= 0:
                return

    def _is_idle(self) -> bool:
        return not self._changes and self._error is None

    def next_call(self) -> AnswerChange | None:
        """The next change that `on_change` is to be called with, None if there is none now."""
        if self._past is not None:
            change = next(self._past, None)
            if change is not None:
                return change
            self._past = None
        with self._arrived:
            return self._changes.popleft() if self._changes else None

    def _take(self) -> AnswerChange | None:
        """The next change that is there already. The changes of a watch with `on_change` are not taken here."""
        if self.on_change is None and (change := self.next_call()) is not None:
            return change
        with self._arrived:
            if self._error is not None:
                self._closed = True
                error, self._error = self._error, None
                raise error
            return None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AnswerChange:
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        while (change := self.next_within(0)) is None:
            left = POLL if deadline is None else deadline - time.monotonic()
            if self._closed or left <= 0:
                raise StopAsyncIteration
            await self._arrival(min(left, POLL))
        return change

    async def _arrival(self, seconds: float) -> None:
        """Return when a change arrives, at the latest after so many seconds."""
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(arrived.set)

        with self._arrived:
            if self._closed or not self._is_idle():
                return
            self._wakers.append(wake)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(arrived.wait(), seconds)
        finally:
            with self._arrived:
                self._wakers.remove(wake)
