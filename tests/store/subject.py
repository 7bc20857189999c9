"""What the fault sweeps need to know of a store, so that they can be tried on a stand-in that is known to be wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

State = list[Any]  # version and content, as JSON gives them back


@dataclass(frozen=True)
class Operation:
    """A piece of work that a fault meets."""

    act: Callable[[Any, Path], object]  # with the open store, at a path
    before: Callable[[Path], object]  # makes what is there when it begins, and leaves it closed
    opens: bool = False  # it opens the store itself, so it is given none
    closes: bool = False  # the store cannot be used after it
    meanwhile: Callable[[Path], object] | None = None  # what another does after the store was opened


class Subject(Protocol):
    """A store under test. Sessions are whatever `open` returns."""

    @property
    def refusal(self) -> type[Exception]:
        """How it refuses; any other exception is a defect."""
        ...

    @property
    def operations(self) -> Mapping[str, Operation]: ...

    def open(self, path: Path) -> Any: ...

    def close(self, session: Any) -> None: ...

    def state(self, session: Any) -> State:
        """Version and content, as they can be read."""
        ...

    def verify(self, session: Any) -> list[str]:
        """What the store itself finds wrong."""
        ...

    def commit(self, session: Any, number: int) -> None:
        """A small change; another for each number."""
        ...

    def story(self, path: Path) -> Iterator[Any]:
        """A whole session that starts with nothing; gives the open store after each step that was acknowledged."""
        ...

    def exemplar(self, path: Path, halfway: Callable[[], object]) -> None:
        """A small store with everything in it, left closed; calls `halfway` once while it grows, when it is closed."""
        ...

    @property
    def questions(self) -> Mapping[str, Callable[[Any], Any]]:
        """All that can be asked of the exemplar, by name; answers are JSON values."""
        ...

    @property
    def changes(self) -> Mapping[str, Callable[[Any], Any]]:
        """What can be done to the exemplar, by name; these give JSON values too."""
        ...
