"""`make demo` does what it says, on the real public interface."""

from __future__ import annotations

import re

import pytest

from demo import university

pytestmark = pytest.mark.xdist_group("demo")  # it is run once, in one process


@pytest.fixture(scope="module")
def shown() -> str:
    """What the demo prints; it is run once."""
    with pytest.MonkeyPatch.context() as patch:
        lines: list[str] = []
        patch.setattr("builtins.print", lambda *values, **_: lines.append(" ".join(map(str, values))))
        university.main()
    return "\n".join(lines)


def test_it_derives_facts(shown: str) -> None:
    found = re.search(r"(\d+) rules: ([\d,]+) facts given, ([\d,]+) derived", shown)
    assert found
    rules, given, derived = (int(text.replace(",", "")) for text in found.groups())
    assert rules > 50
    assert given > 50_000
    assert derived > given // 10


def test_a_preview_changes_nothing_and_a_change_does(shown: str) -> None:
    assert re.findall(r"^version (\d+): \S+ \S+ facts", shown, re.MULTILINE) == ["1", "2", "2", "3"]


def test_what_follows_from_one_fact_goes_with_it(shown: str) -> None:
    lost = shown.partition("drops")[2].partition("Query")[0]
    assert "+0 -2 facts" in lost
    assert "- [ex:ada, rdf:type, ub:Student] ." in lost


def test_a_watch_sees_what_she_gains_and_loses(shown: str) -> None:
    assert re.search(r"the watch: version 2 gives \d+ classes", shown)
    assert "the watch: she is no longer ub:Student\n" in shown


def test_ada_is_a_student_and_a_person(shown: str) -> None:
    answer = shown.partition("what is Ada now?")[2]
    assert "#GraduateStudent" in answer
    assert "#Person" in answer
