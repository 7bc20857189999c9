"""How many values a column has is told from a sample: about right, and no more than there are rows."""

from __future__ import annotations

import numpy as np
import pytest

from tidelog.kernel.rows import HALF, layout_for
from tidelog.kernel.run import Run


@pytest.mark.parametrize("rows", [1, 50, 5_000, 200_000])
@pytest.mark.parametrize("each", [1, 3, 40])
def test_values(rows: int, each: int) -> None:
    """Values of one column lead `each` rows; those of the other occur once, or not much oftener."""
    numbers = np.arange(rows, dtype=np.int64)
    for column, words in enumerate((numbers // each << HALF | numbers, numbers << HALF | numbers // each)):
        run = Run(layout_for(2, 0), words.reshape(1, -1))
        expected = -(-rows // each)
        assert expected / 2 <= run.values(column) <= min(rows, 2 * expected)
        assert rows / 2 <= run.values(1 - column) <= rows
        assert run.values(column) == run.values(column)
