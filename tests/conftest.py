"""Options of the whole suite: `--long` runs the long tiers of the random and seeded tests."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="many more random programs and histories; every seeded fault")
