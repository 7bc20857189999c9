"""Finding Java: JAVA_HOME before PATH, too old ones passed over, none at all no error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidelog.engines.spark.cluster import java

VERSIONS = [
    ('openjdk version "17.0.15" 2025-04-15', 17),
    ('openjdk version "21" 2023-09-19', 21),
    ('java version "1.8.0_402"', 8),
    ("no Java here", None),
]


@pytest.mark.parametrize(("text", "version"), VERSIONS)
def test_versions(text: str, version: int | None) -> None:
    assert java.major_version(text) == version


def fake(folder: Path, version: str) -> Path:
    """A home directory whose `java -version` answers with this version."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine without any Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    return monkeypatch


def test_none(bare: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert java.find_java() is None
    assert java.main() == 1
    assert "no Java 17 or newer" in capsys.readouterr().out


def test_java_home_comes_first(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home, other = fake(tmp_path / "home", "21.0.1"), fake(tmp_path / "other", "17.0.1")
    bare.setenv("JAVA_HOME", str(home))
    bare.setenv("PATH", f"{other / 'bin'}")
    assert java.find_java() == java.Java(home, 21)


def test_too_old_is_passed_over(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old, new = fake(tmp_path / "old", "1.8.0_402"), fake(tmp_path / "new", "17.0.1")
    bare.setenv("JAVA_HOME", str(old))
    bare.setenv("PATH", f"{new / 'bin'}")
    assert java.find_java() == java.Java(new, 17)


def test_a_wrong_java_home_is_passed_over(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert java.find_java() is None
