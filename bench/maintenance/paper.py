"""The published counters: LUBM-1k-L in Table 2 of Motik, Nenov, Piro and Horrocks (AAAI 2015)."""

from __future__ import annotations

EXPLICIT = 133_600_000
COUNTERS = ("D", "DR2", "DR4", "DR5", "C", "Bwd", "Sat", "Del")
OF_DRED = COUNTERS[:4]
OF_BF = COUNTERS[4:]
ROWS: dict[int, tuple[float, ...]] = {  # removed explicit facts: the counters
    100: (1.0e3, 1.1e3, 0.8e3, 1.0e3, 0.5e3, 0.2e3, 0.3e3, 0.2e3),
    5_000: (55.5e3, 67.2e3, 46.9e3, 59.8e3, 23.0e3, 9.3e3, 13.7e3, 7.4e3),
    2_500_000: (10.3e6, 15.2e6, 6.6e6, 11.5e6, 10.0e6, 4.1e6, 5.6e6, 3.7e6),
    5_000_000: (17.8e6, 26.3e6, 10.5e6, 18.9e6, 18.8e6, 7.8e6, 10.1e6, 7.5e6),
    7_500_000: (24.3e6, 35.5e6, 13.6e6, 24.3e6, 26.7e6, 11.0e6, 14.0e6, 11.2e6),
    10_000_000: (30.0e6, 43.1e6, 15.9e6, 28.1e6, 34.1e6, 14.0e6, 17.4e6, 15.0e6),
}
FEW = 5_000


def nearest_row(removed: int, explicit: int) -> int:
    """The row to compare with: the same number of facts where the paper has it, else the nearest part of all facts."""
    if removed in ROWS:
        return removed
    return min((row for row in ROWS if row > FEW), key=lambda row: abs(row / EXPLICIT - removed / explicit))


def per_fact(row: int) -> dict[str, float]:
    return {name: value / row for name, value in zip(COUNTERS, ROWS[row], strict=True)}
