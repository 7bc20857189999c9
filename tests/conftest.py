"""Options of the whole suite: `--long` runs the long tiers of the random and seeded tests."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="many more random programs and histories; every seeded fault")


@pytest.fixture
def long_tier(request: pytest.FixtureRequest) -> None:
    """A test that asks for this runs only with `--long`."""
    if not request.config.getoption("long"):
        pytest.skip("runs with --long")
