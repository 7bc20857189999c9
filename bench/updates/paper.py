"""The published times: Table 2 of Urbani, Margara, Jacobs, van Harmelen and Bal (ISWC 2013), in seconds."""

from __future__ import annotations

from typing import NamedTuple

UNIVERSITIES = 1000
TRIPLES = 138_000_000
MATERIALISATION = "about 15 minutes"
MACHINE = "two quad-core Intel E5620 processors, 24 GB of memory and an SSD; Java, triples on disk in six B-trees"


class Published(NamedTuple):
    addition: float
    dred: float  # removal
    counting: float  # removal


TIMES = {
    "1": Published(0.117, 2902.7, 0.117),
    "2": Published(8.2, 2049.6, 25.7),
    "3": Published(3.7, 2121.9, 25.4),
    "4": Published(31.8, 2132.2, 51.0),
    "5": Published(16.8, 2196.0, 74.6),
    "6": Published(30.5, 3830.2, 135.8),
}
