"""The rules of a benchmark run: who is skipped and why, and that different facts are noticed."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import pytest

from bench.measure import MeasurementError
from bench.run import Forecast, Result, disagreement
from bench.workloads import WORKLOADS, Workload

BY_NAME = {workload.name: workload for workload in WORKLOADS}
SMALL, LARGE, OTHER = (BY_NAME[name] for name in ("lubm-1", "lubm-10", "el-2000"))


def found(**facts: int) -> Result:
    return {"facts": facts}


@pytest.mark.parametrize(
    ("engines", "differs"),
    [
        ({"tidelog": found(p=1, q=2), "nemo": found(q=2, p=1)}, False),
        ({"tidelog": found(p=1, q=2), "nemo": found(p=2, q=1)}, True),
        ({"tidelog": found(p=1), "nemo": {"skipped": "not installed"}}, False),
        ({"tidelog": found(p=1), "owlrl": found(p=9)}, False),
        ({"tidelog": found(p=1), "nemo": found(p=1), "clingo": found(p=2)}, True),
    ],
)
def test_disagreement(engines: dict[str, Result], differs: bool) -> None:
    assert (disagreement(engines) is not None) == differs


@pytest.mark.parametrize(
    ("seconds", "workload", "reason"),
    [
        (5.9, LARGE, None),
        (6.1, LARGE, "would take 61 s or more, by the size before"),
        (inf, LARGE, "no result at the size before"),
        (inf, OTHER, None),
    ],
)
def test_forecast(seconds: float, workload: Workload, reason: str | None) -> None:
    forecast = Forecast(60)
    forecast.note("tidelog", SMALL, seconds)
    if reason is None:
        forecast.check("tidelog", workload)
    else:
        with pytest.raises(MeasurementError, match=reason):
            forecast.check("tidelog", workload)


def test_sizes_grow_within_a_family() -> None:
    sizes = [(w.family, w.size) for w in WORKLOADS]
    assert all(a[0] != b[0] or a[1] < b[1] for a, b in pairwise(sizes))
