"""Every file of `bad_files.txt` is refused with exactly the words written there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tidelog import formats
from tidelog.errors import TidelogError


@dataclass
class BadFile:
    title: str
    name: str = ""
    parameters: dict[str, object] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    error: list[str] = field(default_factory=list)

    def content(self) -> bytes:
        text = "".join(f"{line}\n" for line in self.lines)
        return text.encode().replace(rb"\xff", b"\xff").replace(rb"\r", b"\r")


def bad_files() -> Iterator[BadFile]:
    for block in (Path(__file__).parent / "bad_files.txt").read_text(encoding="utf-8").split("\n\n")[1:]:
        bad = BadFile("")
        for line in block.splitlines():
            word, _, rest = line.partition(" ")
            if line.startswith("|"):
                bad.lines.append(line[1:])
            elif word == "#":
                bad.title = rest
            elif word == "file":
                bad.name = rest
            elif word == "with":
                name, _, value = rest.partition("=")
                bad.parameters[name] = value
            else:
                assert word == "error", line
                bad.error.append(rest)
        yield bad


@pytest.mark.parametrize("bad", list(bad_files()), ids=lambda bad: bad.title)
def test_bad_file(bad: BadFile, tmp_path: Path) -> None:
    path = tmp_path / bad.name
    path.write_bytes(bad.content())
    with pytest.raises(TidelogError) as caught:
        list(formats.read(path, parameters=bad.parameters))
    message = str(caught.value).replace(str(path), "FILE")
    shown = getattr(caught.value, "location", None)
    if shown is not None:
        message = message.removesuffix(shown.caret())
    assert message == "\n".join(bad.error)


def test_the_line_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text("<s> <p> <o>\n")
    with pytest.raises(TidelogError, match=r"\n    <s> <p> <o>\n {15}\^$"):
        list(formats.read(path))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TidelogError, match="no such file"):
        list(formats.read(tmp_path / "none.nt"))
    with pytest.raises(TidelogError, match="no such file"):
        list(formats.read(tmp_path / "none.parquet"))


@pytest.mark.parametrize(
    ("name", "line"), [("a.nt", "<a> <b> <c> .\n"), ("a.csv", "a,b\n"), ("a.ttl", "<a> <b> <c> .\n")]
)
def test_a_file_that_changes_while_it_is_read(name: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(line)
    batches = iter(formats.read(path))
    assert len(next(batches)) == 1
    with path.open("a") as more:
        more.write(line)
    with pytest.raises(TidelogError, match="changed while it was read; load it when it is complete"):
        list(batches)


@pytest.mark.parametrize("name", ["a.nt", "a.csv", "a.ttl", "a.rdf"])
def test_a_pipe(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(TidelogError, match="is a pipe or a device, which can be read only once; copy it to a file"):
        list(formats.read(tmp_path / name))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b")
    (tmp_path / "a.csv").chmod(0)
    with pytest.raises(TidelogError, match="cannot be read: Permission denied"):
        list(formats.read(tmp_path / "a.csv"))


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.nt").mkdir()
    with pytest.raises(TidelogError, match="is a directory; name the files in it"):
        list(formats.read(tmp_path / "a.nt"))
