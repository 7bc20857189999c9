"""Which addresses are paths, and what the others are refused with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tidelog
from tidelog.errors import UsageError
from tidelog.model.addresses import data_address, directory_path, output_path, text_path

PURPOSES = (data_address, directory_path, output_path, text_path)
PATHS = {
    "a/b.nt": "a/b.nt",
    "c:/b.nt": "c:/b.nt",
    "file:/a/b.nt": "/a/b.nt",
    "file:///a/b%20c.nt": "/a/b c.nt",
    "FILE://localhost/a/b#c?d.nt": "/a/b#c?d.nt",
}


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("address", PATHS)
def test_paths(address: str, purpose: Callable[[str | Path], object]) -> None:
    assert purpose(address) == Path(PATHS[address])
    if "//localhost" not in address:  # a `Path` has lost a slash
        assert purpose(Path(address)) == Path(PATHS[address])


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("address", ["https://host/a", "file://host/a", "s3a://host/a", "hdfs://host/a"])
def test_addresses_are_shown_as_they_were_given(
    address: str, kind: Callable[[str], str | Path], purpose: Callable[[str | Path], object]
) -> None:
    if purpose is data_address and not address.startswith(("https:", "file:")):
        assert purpose(kind(address)) == address
    elif kind is str or not address.startswith("file:"):  # Path("file://host/a") is the path /host/a
        with pytest.raises(UsageError, match=f"^{address}: "):
            purpose(kind(address))


def test_no_method_makes_a_folder_with_the_name_of_a_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    url = "s3a://bucket/x"
    kb = tidelog.open()
    kb.apply(add="[a, b, c] . p(1) .")
    for attempt in (
        lambda: tidelog.open(url),
        lambda: tidelog.open(Path(url), create=False),
        lambda: kb.export(f"{url}.nt"),
        lambda: kb.export(f"{url}.delta", relations=["p"]),
        lambda: kb.load("nowhere.nt", bad_lines="quarantine", quarantine=url),
        lambda: kb.apply(add_rules=f"{url}.rls"),
        lambda: kb.load(f"{url}.rls"),
        lambda: tidelog.ontology(f"{url}.owl"),
    ):
        with pytest.raises(UsageError, match="s3a://bucket/x"):
            attempt()
    assert not list(tmp_path.iterdir())


def test_a_url_of_a_local_file_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "two words.csv").write_text("1,2\n")
    with tidelog.open() as kb:
        kb.load((tmp_path / "two words.csv").as_uri(), relation="p")
        kb.load(f"file://{tmp_path}/*.csv", relation="q")
        assert sorted(kb.all_facts()) == [("p", 1, 2), ("q", 1, 2)]
        kb.apply(remove={"p": tmp_path / "two words.csv"}, add=(tmp_path / "two words.csv").as_uri())
        assert len(kb.all_facts()) == 2
