"""Every file of `bad_files.txt` is refused with exactly the words written there."""

from __future__ import annotations

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


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.nt").mkdir()
    with pytest.raises(TidelogError, match="is a directory; name the files in it"):
        list(formats.read(tmp_path / "a.nt"))
