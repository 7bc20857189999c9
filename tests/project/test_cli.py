"""The command line: what it prints, where, with which exit code, and how little `--help` imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.project.documents import ROOT
from tidelog import __version__, cli
from tidelog.cli.commands import machine

FLIGHTS = ROOT / "demo" / "flights.rls"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def tidelog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(capsys)


class Command:
    """Runs the command line in this process, in an empty folder."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> Ran:
        try:
            code = cli.main([str(a) for a in arguments])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        return Ran(code, *self.capsys.readouterr())


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def test_version(tidelog: Command) -> None:
    assert tidelog("--version") == Ran(0, f"tidelog {__version__}\n", "")


def test_help_lists_every_command(tidelog: Command) -> None:
    ran = tidelog("--help")
    assert ran.code == 0
    assert [c.name for c in cli.COMMANDS if c.name not in ran.out] == []


@pytest.mark.parametrize("command", [c.name for c in cli.COMMANDS])
def test_every_command_takes_json_and_explains_itself(command: str, tidelog: Command) -> None:
    ran = tidelog(command, "--help")
    assert ran.code == 0
    assert "--json" in ran.out


WRONG_USE = [
    (["fly"], "there is no command fly\n"),
    (["quary", "a.kb"], "there is no command quary; did you mean query?"),
    ([], "the following arguments are required: COMMAND"),
    (["run"], "the following arguments are required: FILE.rls"),
    (["run", "a.rls", "--loud"], "usage: tidelog run [-h] [--json]"),
    (["run", "a.rls", "--quick"], "unrecognized arguments: --quick\n"),
    (["run", "a.rls", "--overwrit3"], "unrecognized arguments: --overwrit3; did you mean --overwrite?"),
    (["generate", "lubm", "many", "out"], "invalid int value: 'many'"),
    (["generate", "lubm", "0", "out"], "must be at least 1"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG_USE)
def test_wrong_use_is_exit_code_2(arguments: list[str], message: str, tidelog: Command) -> None:
    ran = tidelog(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "error: " in ran.err
    assert message in ran.err


WRONG_DATA = [
    ("p(a", "expected"),
    ("p(?x) :- q(?y) .", "?x in the head is not bound"),
    ("p(a) . :- p(?x) .", "the constraint"),
    ('@import p :- csv{resource="gone.csv"} .', "gone.csv"),
]


@pytest.mark.parametrize(("program", "message"), WRONG_DATA)
def test_a_problem_in_the_data_is_exit_code_1(program: str, message: str, tidelog: Command) -> None:
    ran = tidelog("run", write("a.rls", program))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: ")
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert not Path("results").exists()


def test_a_missing_program(tidelog: Command) -> None:
    ran = tidelog("run", "gone.rls")
    assert ran.code == 1
    assert ran.err.startswith("error: gone.rls")


def test_run_writes_exports_and_says_so(tidelog: Command) -> None:
    assert tidelog("run", FLIGHTS) == Ran(0, "predicate  facts  file\nreach          6  results/reach.csv\n", "")
    rows = Path("results/reach.csv").read_text().splitlines()
    assert sorted(rows) == [
        "berlin,bergen",
        "berlin,oslo",
        "dresden,bergen",
        "dresden,berlin",
        "dresden,oslo",
        "oslo,bergen",
    ]


def test_run_as_json(tidelog: Command) -> None:
    report = json.loads(tidelog("run", FLIGHTS, "--json", "--out", "there").out)
    assert report["exports"] == [{"predicate": "reach", "facts": 6, "file": "there/reach.csv"}]
    assert (report["explicit"], report["derived"]) == (4, 6)
    assert report["derivations"] >= 6


def test_run_does_not_overwrite_unless_told(tidelog: Command) -> None:
    assert tidelog("run", FLIGHTS).code == 0
    write("results/reach.csv", "mine\n")
    ran = tidelog("run", FLIGHTS)
    assert (ran.code, ran.out) == (1, "")
    assert "results/reach.csv is already there" in ran.err
    assert "--overwrite" in ran.err
    assert Path("results/reach.csv").read_text() == "mine\n"
    assert tidelog("run", FLIGHTS, "--overwrite").code == 0
    assert Path("results/reach.csv").read_text() != "mine\n"


def test_two_exports_to_one_file_are_refused(tidelog: Command) -> None:
    program = 'p(1) . q(2) . @export p :- csv{resource="a.csv"} . @export q :- csv{resource="a.csv"} .'
    ran = tidelog("run", write("a.rls", program))
    assert ran.code == 1
    assert "two exports write to results/a.csv" in ran.err


def test_run_without_exports_shows_what_was_derived(tidelog: Command) -> None:
    ran = tidelog("run", write("a.rls", "p(1) . p(2) . q(?x) :- p(?x) . r(?x) :- q(?x), ?x > 9 ."))
    assert ran.code == 0
    assert ran.out == "predicate  facts  file\nq              2\nr              0\n"
    assert "warning: the program has no @export" in ran.err
    assert not Path("results").exists()


def test_run_then_query(tidelog: Command) -> None:
    assert tidelog("run", FLIGHTS, "--query", "flight(oslo, ?to)") == Ran(0, "?to\nbergen\n", "")
    report = json.loads(tidelog("run", FLIGHTS, "--overwrite", "--json", "--query", "flight(oslo, ?to)").out)
    bindings = [{"to": {"type": "uri", "value": "bergen"}}]
    assert report["answers"] == {"head": {"vars": ["to"]}, "results": {"bindings": bindings}}


def test_a_wrong_query_leaves_no_exports(tidelog: Command) -> None:
    ran = tidelog("run", FLIGHTS, "--query", "flight(oslo")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: <query>:1:")
    assert not Path("results").exists()


def test_an_exhausted_machine_is_an_error_not_a_traceback(tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(directory: Path) -> None:
        raise MemoryError

    monkeypatch.setattr(machine, "findings", exhausted)
    ran = tidelog("doctor")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: out of memory; set TIDELOG_MEMORY")


def test_run_warns_of_a_cartesian_product(tidelog: Command) -> None:
    ran = tidelog("run", write("a.rls", "p(1) . q(2) . r(?x, ?y) :- p(?x), q(?y) . @export r :- csv{} ."))
    assert ran.code == 0
    assert ran.err.startswith("warning: a.rls:1:")
    assert "cartesian product" in ran.err
    assert Path("results/r.csv").read_text() == "1,2\n"


def test_imports_are_relative_to_the_program(tidelog: Command) -> None:
    Path("there").mkdir()
    write("there/p.csv", "a,b\nc,d\n")
    program = '@import p :- csv{resource="p.csv"} . q(?y) :- p(?x, ?y) . @export q :- csv{} .'
    ran = tidelog("run", write("there/a.rls", program), "--json")
    assert json.loads(ran.out)["exports"] == [{"predicate": "q", "facts": 2, "file": "results/q.csv"}]


def test_check_shows_strata(tidelog: Command) -> None:
    ran = tidelog("check", write("a.rls", "p(1) . q(?x) :- p(?x) . r(?x) :- p(?x), ~q(?x) ."))
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert [line for line in lines if "stratum" in line] == ["stratum 1", "stratum 2"]
    assert lines[-1] == "2 rules in 2 strata, 1 facts: no problem found"
    assert len(json.loads(tidelog("check", "a.rls", "--json").out)["strata"]) == 2


def test_check_refuses(tidelog: Command) -> None:
    ran = tidelog("check", write("a.rls", "p(?x) :- q(?x), ~p(?x) ."))
    assert ran.code == 1
    assert ran.err.startswith("error: a.rls:1:")


@pytest.mark.parametrize("name", ["one.nt", "one.ttl.gz", "folder"])
def test_generate(name: str, tidelog: Command) -> None:
    report = json.loads(tidelog("generate", "lubm", 1, name, "--json").out)
    assert report["facts"] > 50_000
    assert Path(name).exists()


def test_generate_el(tidelog: Command) -> None:
    ran = tidelog("generate", "el", 50, "here")
    assert ran.code == 0
    assert ran.out.endswith(" facts in here\n")
    assert list(Path("here").glob("*.rls"))


def test_doctor(tidelog: Command) -> None:
    report = json.loads(tidelog("doctor", "--json").out)
    found = {each["what"]: each["state"] for each in report["findings"]}
    assert found["Python"] == found["numpy"] == "ok"
    assert {"Java", "memory", "threads", "disk"} <= set(found)


def test_doctor_gives_advice(tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "REQUIRED", ("no-such-package",))
    monkeypatch.setenv("TIDELOG_MEMORY", "much")
    ran = tidelog("doctor")
    assert ran.code == 1
    assert "pip install no-such-package" in ran.out
    assert 'such as "8GB"' in ran.out


def test_a_wrong_setting_is_wrong_use(tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDELOG_MEMORY", "much")
    ran = tidelog("run", FLIGHTS)
    assert ran.code == 2
    assert ran.err.startswith("error: TIDELOG_MEMORY is 'much'")


def test_bench_needs_a_checkout(tidelog: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tidelog.__file__", str(tmp_path / "lib" / "tidelog" / "__init__.py"))
    ran = tidelog("bench")
    assert ran.code == 2
    assert "make bench" in ran.err


def test_interruption_is_130(tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(directory: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(machine, "findings", interrupted)
    assert tidelog("doctor") == tidelog("doctor", "--json") == Ran(130, "", "")


def child(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)


HEAVY = {"numpy", "pyarrow", "pandas", "pyoxigraph", "rdflib", "pyspark"}


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_import_nothing_heavy(flag: str) -> None:
    ran = child("-X", "importtime", "-m", "tidelog.cli", flag)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in ran.stderr.splitlines()}
    assert "argparse" in imported
    assert imported & HEAVY == set()


def test_a_closed_pipe_is_quiet() -> None:
    shell = f"{sys.executable} -m tidelog.cli doctor --json | true; echo ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, env=environment, timeout=60)
    assert (ran.stdout, ran.stderr) == ("0\n", "")
