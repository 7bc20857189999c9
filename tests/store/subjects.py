"""The stores the sweeps know, by name: the stand-in, sound and with each of its defects, and the real one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.store.stand_in import StandIn
from tests.store.subject import Subject

DEFECTS = (
    "catalog first",
    "file not synced",
    "folder not synced",
    "catalog not synced",
    "untyped error",
    "silent failure",
    "unchecked",
)


def _knowledge(left_open: bool) -> Subject:
    from tests.store.knowledge import Knowledge  # only here: the stand-in needs none of it, and starts sooner

    return Knowledge(left_open)


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "stand-in": StandIn,
    **{defect: partial(StandIn, defect) for defect in DEFECTS},
    "store": partial(_knowledge, False),
    "store left open": partial(_knowledge, True),
}
