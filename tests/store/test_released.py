"""Knowledge bases of every released format still open, and go on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import tidelog
from tests.store.released import RELEASED, described, make
from tidelog.store.catalog import FORMAT

FORMATS = sorted(p.name for p in RELEASED.iterdir())


def test_there_is_one_of_the_present_format() -> None:
    assert str(FORMAT) in FORMATS


@pytest.mark.parametrize("released", FORMATS)
def test_it_opens_and_can_be_changed(released: str, tmp_path: Path) -> None:
    shutil.copytree(RELEASED / released / "kb", tmp_path / "kb")
    assert described(tmp_path / "kb") == json.loads((RELEASED / released / "expected.json").read_text())
    with tidelog.open(tmp_path / "kb") as kb:
        assert len(kb.apply(add="edge(e, a) .").added) > 1
        assert kb.verify(recompute=True).problems == []


def test_the_same_changes_give_the_same_digests_today(tmp_path: Path) -> None:
    make(tmp_path / "kb")
    expected = json.loads((RELEASED / str(FORMAT) / "expected.json").read_text())
    assert described(tmp_path / "kb") == expected
