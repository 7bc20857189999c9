"""Scratch files that go when the set they belong to goes."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress


class Files:
    """Files of one node, deleted when nobody can read it any more."""

    def __init__(self, owner: object, paths: Iterable[str] = ()) -> None:
        self._paths = list(paths)
        self.delete = weakref.finalize(owner, delete, self._paths)

    def add(self, *paths: str) -> None:
        self._paths.extend(paths)


def delete(paths: Sequence[str]) -> None:
    """Files that nobody needs; those that are gone already do not matter."""
    for path in paths:
        with suppress(OSError):
            os.unlink(path)
