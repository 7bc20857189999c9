"""What machines read: every command's `--json`, its fields and their values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tidelog as library
from tests.project.test_cli import Command, write

PROGRAM = "p(1) . p(2) . [ann, likes, bob] . q(?x) :- p(?x) ."


@pytest.fixture
def kb(tidelog: Command) -> str:
    """A knowledge base at version 2."""
    assert tidelog("init", "a.kb").code == 0
    assert tidelog("load", "a.kb", write("a.rls", PROGRAM)).code == 0
    assert tidelog("update", "a.kb", "--add", "p(3) .", "--message", "three").code == 0
    return "a.kb"


def read(tidelog: Command, *arguments: object, code: int = 0) -> Any:
    ran = tidelog(*arguments, "--json")
    assert (ran.code, ran.err) == (code, "")
    return json.loads(ran.out)


FIELDS = [
    (["init", "new.kb"], "kb version rules ruleset strict equality"),
    (["load", "a.kb", "a.rls"], "version added removed algorithm engine reason work seconds notes"),
    (
        ["update", "a.kb", "--add", "p(4) ."],
        "version added removed algorithm engine reason work seconds dry_run",
    ),
    (
        ["update", "a.kb", "--add", "p(4) .", "--show", "1"],
        "version added removed added_facts removed_facts algorithm engine reason work seconds dry_run",
    ),
    (["query", "a.kb", "p(?x)"], "head results"),
    (["query", "a.kb", "p(1)"], "head boolean"),
    (["rules", "a.kb"], "version prefixes rules"),
    (
        ["status", "a.kb"],
        "version oldest digest facts explicit derived rules relations ruleset strict bytes format",
    ),
    (["log", "a.kb"], "versions"),
    (["diff", "a.kb", "1", "2"], "older newer added removed added_facts removed_facts added_rules removed_rules"),
    (["diff", "a.kb", "1", "2", "--show", "0"], "older newer added removed added_rules removed_rules"),
    (["verify", "a.kb"], "ok version versions files bytes recomputed problems"),
    (["compact", "a.kb"], "version oldest bytes_before bytes"),
    (["export", "a.kb", "out.nt"], "version exports"),
]


@pytest.mark.parametrize(("arguments", "fields"), FIELDS, ids=lambda value: value[0] if isinstance(value, list) else "")
def test_fields(arguments: list[str], fields: str, kb: str, tidelog: Command) -> None:
    assert set(read(tidelog, *arguments)) == set(fields.split())


def test_status_counts(kb: str, tidelog: Command) -> None:
    status = read(tidelog, "status", kb)
    counts = [status[name] for name in ("version", "facts", "explicit", "derived", "rules")]
    assert counts == [2, 7, 4, 3, 1]
    assert status["relations"] == {
        "p": {"facts": 3, "explicit": 3, "derived": 0},
        "q": {"facts": 3, "explicit": 0, "derived": 3},
        "triple": {"facts": 1, "explicit": 1, "derived": 0},
    }
    assert status["bytes"] == sum(path.stat().st_size for path in Path(kb).rglob("*") if path.is_file())
    with library.open(kb, read_only=True) as opened:
        assert status["digest"] == opened.digest()


def test_status_knows_the_rule_set(tidelog: Command) -> None:
    assert tidelog("init", "a.kb", "--ruleset", "rhodf", "--strict").code == 0
    status = read(tidelog, "status", "a.kb")
    assert (status["ruleset"], status["strict"], status["rules"], status["version"]) == ("rhodf", True, 6, 1)


def test_a_dry_run_is_the_change_to_come(kb: str, tidelog: Command) -> None:
    arguments = ("update", kb, "--remove", "p(3) .", "--add-rules", "r(?x) :- q(?x) .", "--show", "9")
    tried, done = read(tidelog, *arguments, "--dry-run"), read(tidelog, *arguments)
    assert (tried.pop("dry_run"), done.pop("dry_run")) == (True, False)
    assert (tried.pop("added_explicit"), tried.pop("removed_explicit")) == (0, 1)
    assert (tried.pop("added_rules"), tried.pop("removed_rules")) == (["r(?x) :- q(?x) ."], [])
    assert tried.pop("predicted").keys() == {"derivations", "added", "removed"}
    assert (tried.pop("seconds") > 0, done.pop("seconds") > 0) == (True, True)
    assert tried == done
    assert (done["version"], done["added"], done["removed"]) == (3, 2, 2)
    assert done["removed_facts"] == ["p(3) .", "q(3) ."]
    assert done["work"]["derivations"] > 0


@pytest.mark.parametrize(
    "algorithm", ["bf", "dred", "fp", "counting", "recursive-counting", "declarative", "rematerialise"]
)
def test_the_algorithm_asked_for_is_used(algorithm: str, kb: str, tidelog: Command) -> None:
    change = read(tidelog, "update", kb, "--remove", "p(3) .", "--algorithm", algorithm)
    assert (change["algorithm"], change["removed"]) == (algorithm, 2)


def test_log_tells_what_was_done(kb: str, tidelog: Command) -> None:
    newest, oldest = read(tidelog, "log", kb)["versions"]
    assert (newest["version"], newest["message"], newest["added"], newest["removed"]) == (2, "three", 2, 0)
    assert (oldest["version"], oldest["facts"], oldest["rules"]) == (1, 5, 1)
    assert newest["digest"] == read(tidelog, "status", kb)["digest"]


def test_diff_backwards_is_the_inverse(kb: str, tidelog: Command) -> None:
    there, back = read(tidelog, "diff", kb, 0, 2), read(tidelog, "diff", kb, 2, 0)
    for one, other in (("added", "removed"), ("added_facts", "removed_facts"), ("added_rules", "removed_rules")):
        assert there[one] == back[other]
        assert there[other] == back[one]
    assert there["added_rules"] == ["q(?x) :- p(?x) ."]


VALUES = """
v(1) . v(2.5) . v(true) . v("2026-11-18"^^xsd:date) . v(ann) . v("ann") . v(<http://e/x>) . v("http://e/x") . v(_:b) .
v("Rom"@it) . v("INF"^^xsd:double) . v("1"^^xsd:byte) .
"""


def test_query_values(tidelog: Command) -> None:
    assert tidelog("init", "a.kb").code == 0
    assert tidelog("update", "a.kb", "--add", VALUES).code == 0
    answers = read(tidelog, "query", "a.kb", "v(?x)")
    assert answers["head"] == {"vars": ["x"]}
    values = [row["x"] for row in answers["results"]["bindings"]]
    xsd = "http://www.w3.org/2001/XMLSchema#"
    assert values == [
        {"type": "literal", "value": "1", "datatype": f"{xsd}integer"},
        {"type": "literal", "value": "2.5", "datatype": f"{xsd}double"},
        {"type": "literal", "value": "true", "datatype": f"{xsd}boolean"},
        {"type": "literal", "value": "2026-11-18", "datatype": f"{xsd}date"},
        {"type": "uri", "value": "ann"},
        {"type": "literal", "value": "ann"},
        {"type": "uri", "value": "http://e/x"},
        {"type": "literal", "value": "http://e/x"},
        {"type": "bnode", "value": "b"},
        {"type": "literal", "value": "Rom", "xml:lang": "it"},
        {"type": "literal", "value": "INF", "datatype": f"{xsd}double"},
        {"type": "literal", "value": "1", "datatype": f"{xsd}byte"},
    ]
    limited = read(tidelog, "query", "a.kb", "v(?x)", "--limit", 2)
    assert limited["results"]["bindings"] == answers["results"]["bindings"][:2]
    assert read(tidelog, "query", "a.kb", "v(?x), v(zoe)") == {"head": {"vars": ["x"]}, "results": {"bindings": []}}
    assert read(tidelog, "query", "a.kb", "v(zoe)") == {"head": {}, "boolean": False}
    assert read(tidelog, "query", "a.kb", "v(ann)") == {"head": {}, "boolean": True}
    asked = "SELECT ?x { VALUES ?x { <http://e/x> <ann> } }"
    assert read(tidelog, "query", "a.kb", asked)["results"]["bindings"] == [{"x": values[6]}, {"x": values[4]}]


TABLE = """\
?x
1
2.5
true
"2026-11-18"^^xsd:date
ann
"ann"
<http://e/x>
"http://e/x"
_:b
"Rom"@it
"INF"^^xsd:double
"1"^^xsd:byte
"""


def test_a_table_tells_terms_apart(tidelog: Command) -> None:
    assert tidelog("init", "a.kb").code == 0
    assert tidelog("update", "a.kb", "--add", VALUES).code == 0
    assert tidelog("query", "a.kb", "v(?x)").out == TABLE


def test_rules_can_be_loaded_again(kb: str, tidelog: Command) -> None:
    assert tidelog("init", "b.kb", "--ruleset", "rdfs").code == 0
    copied = write("copy.rls", tidelog("rules", "b.kb").out)
    assert tidelog("init", "c.kb", "--rules", copied).code == 0
    assert read(tidelog, "rules", "c.kb")["rules"] == read(tidelog, "rules", "b.kb")["rules"]
    maintenance = read(tidelog, "rules", kb, "--maintenance")["rules"]
    assert "<q^Del>(?x) :- <p^Del>(?x) ." in maintenance


def test_verify_lists_all_damage(kb: str, tidelog: Command) -> None:
    assert tidelog("compact", kb).code == 0
    assert read(tidelog, "verify", kb, "--recompute")["ok"]
    files = sorted(Path(kb, "runs").iterdir())
    assert len(files) > 1
    for file in files:
        file.write_bytes(file.read_bytes()[:-1])
    report = read(tidelog, "verify", kb, code=1)  # with the cache it can still be opened …
    assert [str(file) for file in files if not any(str(file) in text for text in report["problems"])] == []
    for cache in Path(kb, "cache").iterdir():
        cache.unlink()
    assert read(tidelog, "verify", kb, code=1)["problems"] == report["problems"]  # … and without it cannot
    Path(kb, "catalog.sqlite").write_bytes(b"no database" * 1000)
    (problem,) = read(tidelog, "verify", kb, code=1)["problems"]
    assert "not a database" in problem


def test_compact_gives_back_room(kb: str, tidelog: Command) -> None:
    with library.open(kb) as writer:
        for number in range(4, 40):
            writer.apply(add=f"p({number}) .")
    kept = read(tidelog, "compact", kb)
    assert (kept["oldest"], len(read(tidelog, "log", kb)["versions"])) == (0, 38)
    digest = read(tidelog, "status", kb)["digest"]
    report = read(tidelog, "compact", kb, "--keep", 0)
    assert (report["version"], report["oldest"]) == (38, 38)
    assert report["bytes"] < report["bytes_before"]
    assert read(tidelog, "status", kb)["digest"] == digest
