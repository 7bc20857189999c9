"""How long a stage took, told by its tasks: from the first start to the last end."""

from __future__ import annotations

import time
from collections.abc import Iterable

Spell = tuple[float, float]


class Clock:
    def __init__(self) -> None:
        self.start = time.time()

    def spell(self) -> Spell:
        """From the beginning to now."""
        return self.start, time.time()


def elapsed(spells: Iterable[Spell]) -> float:
    all_ = list(spells)
    return max(0.0, max(end for _, end in all_) - min(start for start, _ in all_))
