"""The shell: the sessions of docs/shell.md, where statements end, scripts, and a session in a terminal."""

from __future__ import annotations

import io
import os
import pty
import select
import sys
import time
from pathlib import Path

import pytest

import tidelog
from tests.project.documents import ROOT, Step, blocks, shows
from tests.project.test_cli import Command
from tidelog.cli.commands.interactive import Completer
from tidelog.cli.shell import COMMANDS, HELP, Shell
from tidelog.cli.statements import is_complete, kind_of

PAGE = ROOT / "docs" / "shell.md"


def test_the_sessions_of_the_page(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with tidelog.open(tmp_path / "family.kb") as kb:
        shell = Shell(kb)
        for block in blocks(PAGE, "shell"):
            printed = ""
            for line in block.splitlines():
                if line.startswith(("tidelog> ", "tidelog@2> ", "...> ")):
                    before, _, typed = line.partition("> ")
                    assert shell.prompt == f"{before}> "
                    shell.feed(typed)
                    shown = capsys.readouterr()
                    printed += f"{line}\n{shown.out}{shown.err}"
            assert shows(Step("", block), printed), printed


def test_the_page_and_the_help_have_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [c.name for c in COMMANDS if f"`{c.name}" not in text] == []
    Shell(tidelog.open()).feed(".help")
    printed = capsys.readouterr().out
    assert HELP in printed
    assert [c.name for c in COMMANDS if c.name not in printed] == []


@pytest.mark.parametrize(
    ("text", "kind", "complete"),
    [
        ("p(a) .", "change", True),
        ("p(a)", "query", True),
        ("p(a", "query", False),
        ("p(?x) .", "query", True),
        ("p(a), q(?x),", "query", False),
        ("q(?x) :- p(?x)", "change", False),
        ("q(?x) :- p(?x) .", "change", True),
        ("q(?x) :-", "change", False),
        ("p(a) . q(?x) :- p(?x)", "change", False),
        (":- p(?x, ?x) .", "change", True),
        ("?- p(?x)", "query", True),
        ("?- p(?x), ?x >", "query", False),
        ("?- p(?x) .", "query", True),
        ("@prefix ex: <http://e/>", "change", False),
        ("@prefix ex: <http://e/> .", "change", True),
        ('p("a . b") .', "change", True),
        ('p("a', "query", True),
        ('p("""a', "query", False),
        ("SELECT ?x", "sparql", False),
        ("SELECT ?x WHERE { ?x ?y ?z", "sparql", False),
        ('SELECT ?x WHERE { ?x ?y "}" }', "sparql", True),
        ("INSERT DATA { <a> <b> <c> }", "update", True),
        ("PREFIX ex: <http://e/> ASK { }", "sparql", True),
        (".explain p(a", "command", True),
    ],
)
def test_where_statements_end(text: str, kind: str, complete: bool) -> None:
    assert (kind_of(text), is_complete(text)) == (kind, complete)


def test_a_script(tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    tidelog("init", "a.kb")
    script = "p(a) . p(b) .\n% a comment\n\nq(?x) :-\n p(?x) .\nq(?x)"
    monkeypatch.setattr(sys, "stdin", io.StringIO(script))
    ran = tidelog("shell", "a.kb")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("?x\na\nb\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO("p(\n\np(x) .\n.quit\np(y) .\n"))
    ran = tidelog("shell", "a.kb")
    assert ran.code == 1
    assert ran.out.startswith("+ p(x) .\n+ q(x) .  % derived\nversion 3:")
    assert "p(y)" not in ran.out
    assert ran.err.startswith("error: <query>:1:3: expected a term")
    monkeypatch.setattr(sys, "stdin", io.StringIO("p(z) .\nzz(?x)\n"))
    ran = tidelog("shell", "a.kb", "--read-only")
    assert (ran.code, ran.out) == (1, "no answers\n")
    assert "read" in ran.err
    assert "no fact and no rule has zz" in ran.err


def test_json(tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("p(a) .\np(?x)\n"))
    ran = tidelog("shell", "--json")
    assert ran.code == 0
    assert '"added": 1' in ran.out
    assert '"bindings"' in ran.out


@pytest.mark.parametrize(
    "line",
    [
        ".at x",
        ".at 99",
        ".limit",
        ".explain",
        ".nothing",
        ".load nowhere.nt",
        "@import p :- csv{} .",
        "p(?x :-",
        ".remove q(",
    ],
)
def test_errors_do_not_end_the_shell(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(tidelog.open())
    shell.feed(line)
    shell.feed("")
    assert capsys.readouterr().err.startswith("error: ")
    assert shell.failed and not shell.done
    shell.feed("p(a) .")
    assert capsys.readouterr().out.startswith("+ p(a) .")


def test_completion() -> None:
    kb = tidelog.open()
    kb.apply(add="parent(ann, bob) . person(ann) . triple(<http://e/a>, <http://e/knows>, 1) .")
    kb.declare({"ex": "http://e/"})
    completer = Completer(Shell(kb))
    assert completer.candidates("p", "p") == ["parent", "person"]
    assert completer.candidates("person(?x), pa", "pa") == ["parent"]
    assert completer.candidates("[?x, ex:", "ex:") == ["ex:", "ex:knows"]
    assert completer.candidates(".ex", ".ex") == [".explain"]
    assert completer.candidates("SEL", "SEL") == ["SELECT"]
    kb.apply(add="parrot(polly) .")
    assert completer.candidates("pa", "pa") == ["parent", "parrot"]


class Terminal:
    """A session of the shell in a pseudo-terminal."""

    def __init__(self, folder: Path) -> None:
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            environment = {**os.environ, "XDG_STATE_HOME": str(folder), "PYTHONPATH": str(ROOT / "src"), "TERM": "dumb"}
            os.execve(sys.executable, [sys.executable, "-m", "tidelog.cli", "shell", "a.kb"], environment)

    def type(self, keys: str, until: str) -> str:
        """Type keys; return what is printed up to and including `until`."""
        os.write(self.descriptor, keys.encode())
        return self.read(until)

    def read(self, until: str) -> str:
        printed, end = "", time.monotonic() + 60
        while until not in printed and time.monotonic() < end:
            if select.select([self.descriptor], [], [], 1)[0]:
                try:
                    printed += os.read(self.descriptor, 1 << 16).decode(errors="replace")
                except OSError:  # the session has ended
                    break
        assert until in printed, printed
        return printed

    def end(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tidelog.open(tmp_path / "a.kb") as kb:
        kb.apply(add="parent(ann, bob) .")
    return tmp_path


def test_a_session_in_a_terminal(folder: Path) -> None:
    terminal = Terminal(folder)
    terminal.read("tidelog> ")
    assert "bob" in terminal.type("par\t(ann, ?x)\n", "tidelog> ")
    terminal.type("parent(bob,\n", "...> ")
    terminal.type("\x03", "tidelog> ")  # control-C cancels the input
    assert "error: unknown command" in terminal.type(".nonsense\n", "tidelog> ")
    terminal.type("parent(bob, cid) .\n", "tidelog> ")
    terminal.type("\x04", "")
    assert terminal.end() == 0
    history = (folder / "tidelog" / "history").read_text()
    assert "parent(ann, ?x)" in history
    terminal = Terminal(folder)
    terminal.read("tidelog> ")
    assert "parent(bob, cid)" in terminal.type("\x10", "parent(bob, cid)")  # the statement before
    terminal.type("\x15.quit\n", "")
    assert terminal.end() == 0
