"""Files of these languages wherever a file of rules may stand."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from tidelog.adapters.nemo_runner import run
from tidelog.errors import InputError, ParseError, UsageError

N3_RULE = "{ ?x <parent> ?y } => { ?y <child> ?x } .\n"
N3_FACT = "<ann> <parent> <bob> .\n"
RULEML_RULE = (
    "<Assert><Implies><Atom><Rel>parent</Rel><Var>x</Var><Var>y</Var></Atom>"
    "<Atom><Rel>child</Rel><Var>y</Var><Var>x</Var></Atom></Implies></Assert>"
)


@pytest.fixture
def n3(tmp_path: Path) -> Path:
    path = tmp_path / "family.n3"
    path.write_text(N3_RULE + N3_FACT)
    return path


@pytest.fixture
def rules_only(tmp_path: Path) -> Path:
    path = tmp_path / "rules.n3"
    path.write_text(N3_RULE)
    return path


def test_facts_and_rules_are_loaded(n3: Path) -> None:
    kb = tidelog.open()
    kb.load(str(n3))
    assert set(kb.facts("triple")) == {("ann", "parent", "bob"), ("bob", "child", "ann")}


def test_rules_are_added_and_removed_by_name(rules_only: Path, tmp_path: Path) -> None:
    kb = tidelog.open()
    kb.apply(add="[ann, parent, bob] . parent(eve, dan) .")
    assert len(kb.apply(add_rules=str(rules_only)).added) == 1
    ruleml = tmp_path / "rules.ruleml"
    ruleml.write_text(RULEML_RULE)
    assert list(kb.apply(add_rules=ruleml).added) == [("child", "dan", "eve")]
    kb.apply(remove_rules=str(rules_only))
    assert len(kb.rules) == 1


def test_a_file_with_facts_is_no_file_of_rules(n3: Path) -> None:
    with pytest.raises(UsageError, match="holds facts; rules are expected here"):
        tidelog.open().apply(add_rules=n3)


def test_a_file_with_rules_is_no_file_of_facts(n3: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds rules; facts are expected here"):
        tidelog.open().apply(add=n3)
    (tmp_path / "facts.n3").write_text(N3_FACT)
    assert len(tidelog.open().apply(add=tmp_path / "facts.n3").added) == 1


def test_an_error_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.n3"
    path.write_text(N3_FACT + "{ ?x <p> ?y } => { ?x <q> [] } .\n")
    with pytest.raises(ParseError, match=r"wrong\.n3:2:27: a blank node in a conclusion"):
        tidelog.open().load(path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "wrong.ruleml"
    path.write_bytes(b"\xff\xfe<")
    with pytest.raises(InputError, match="cannot be read as UTF-8 text"):
        tidelog.open().load(path)


def test_blank_nodes_of_two_files_differ_and_those_of_one_stay(tmp_path: Path) -> None:
    for name in ("a.n3", "b.n3"):
        (tmp_path / name).write_text("_:x <p> _:x .\n")
    kb = tidelog.open()
    kb.load(tmp_path / "a.n3", tmp_path / "b.n3")
    kb.load(tmp_path / "a.n3")
    assert len(kb.facts("triple")) == 2


def test_run(n3: Path) -> None:
    assert run(n3).derived == 1
