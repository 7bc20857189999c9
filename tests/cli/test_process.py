"""Real processes: killed, locked out, cut off; and what a command imports."""

from __future__ import annotations

import errno
import io
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from time import sleep
from typing import IO

import pytest

import tidelog as library
from tests.project.documents import ROOT
from tests.project.test_cli import HEAVY, Command, write
from tidelog.cli import output

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=ENVIRONMENT)


def finish(*arguments: str, given: str = "") -> tuple[int, str, str]:
    with start(*arguments) as process:
        out, err = process.communicate(given, timeout=60)
    return process.returncode, out, err


def opened_by(process: subprocess.Popen[str], pipe: str) -> IO[str]:
    """A named pipe to write to, once the process has opened it to read; an error if the process ends before."""
    while process.poll() is None:
        try:
            return open(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK), "w")
        except OSError as error:
            if error.errno != errno.ENXIO:  # nobody reads yet
                raise
            sleep(0.01)
    raise AssertionError(process.communicate()[1])


def test_modules_of_commands_import_nothing_heavy() -> None:
    load = "[c.configure(ArgumentParser()) for c in COMMANDS]; print(*sorted(sys.modules))"
    program = f"import sys; from argparse import ArgumentParser; from tidelog.cli import COMMANDS; {load}"
    code, out, err = finish("-c", program)
    assert (code, err) == (0, "")
    loaded = set(out.split())
    assert "tidelog.cli.commands.reading" in loaded
    assert loaded & HEAVY == set()


def test_an_update_starts_no_spark_and_reads_standard_input(tidelog: Command) -> None:
    assert tidelog("init", "a.kb").code == 0
    program = "import sys; from tidelog.cli import main; code = main(); print(*sys.modules); sys.exit(code)"
    code, out, err = finish("-c", program, "update", "a.kb", "--add", "-", "--show", "1", given="p(a) .")
    first, _, modules = out.splitlines()
    assert (code, first, err) == (0, "+ p(a) .", "")
    assert "numpy" in modules.split()
    assert set(modules.split()) & {"pyspark", "pandas", "rdflib"} == set()


def test_a_killed_load_has_changed_nothing(tidelog: Command) -> None:
    """The load sleeps when it would commit, so it is under way when it is killed."""
    assert tidelog("init", "a.kb").code == 0
    assert tidelog("update", "a.kb", "--add", "p(a) .").code == 0
    write("p.csv", "b\n" * 100)
    sleeping = "Store.commit = lambda *args, **kwargs: (print('committing', flush=True), sleep(600))"
    imports = "from time import sleep; from tidelog.cli import main; from tidelog.store.store import Store"
    with start("-c", f"{imports}; {sleeping}; main(['load', 'a.kb', 'p.csv'])") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "committing\n"
        assert tidelog("update", "a.kb", "--add", "p(c) .").code == 1  # the load is the one writer
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    assert tidelog("query", "a.kb", "p(?x)").out == "?x\na\n"
    assert tidelog("update", "a.kb", "--add", "p(c) .").code == 0
    assert tidelog("verify", "a.kb").code == 0


def test_a_killed_init_leaves_nothing_under_the_name(tidelog: Command) -> None:
    os.mkfifo("endless.rls")
    arguments = ("-m", "tidelog.cli", "init", "a.kb", "--rules", "endless.rls")
    with start(*arguments) as process, opened_by(process, "endless.rls"):
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    assert not Path("a.kb").exists()
    assert tidelog("init", "a.kb").code == 0


def test_there_is_one_writer_and_any_number_of_readers(tidelog: Command) -> None:
    assert tidelog("init", "a.kb").code == 0
    with library.open("a.kb") as writer:
        writer.apply(add="p(a) .")
        for command in (
            ["update", "a.kb", "--add", "p(b) ."],
            ["load", "a.kb", write("a.rls", "p(b) .")],
            ["compact", "a.kb"],
        ):
            ran = tidelog(*command)
            assert (ran.code, ran.out) == (1, "")
            assert ran.err.startswith(f"error: a.kb is being changed by process {os.getpid()}")
        assert tidelog("query", "a.kb", "p(?x)").out == "?x\na\n"
        assert tidelog("update", "a.kb", "--add", "p(b) .", "--dry-run").code == 0
    assert tidelog("update", "a.kb", "--add", "p(b) .").code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_only_be_read(tidelog: Command) -> None:
    assert tidelog("init", "a.kb").code == 0
    for path in [Path("a.kb"), *Path("a.kb").rglob("*")]:
        path.chmod(stat.S_IRUSR | (stat.S_IXUSR if path.is_dir() else 0))
    assert tidelog("status", "a.kb").code == 0
    ran = tidelog("update", "a.kb", "--add", "p(b) .")
    assert ran.code == 1
    assert "get write permission" in ran.err


def test_a_reader_that_has_seen_enough(tidelog: Command) -> None:
    assert tidelog("init", "a.kb").code == 0
    assert tidelog("load", "a.kb", write("n.csv", "".join(f"{n}\n" for n in range(50_000)))).code == 0
    shell = f"{sys.executable} -m tidelog.cli query a.kb 'n(?x)' --format csv | head -2; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
    assert (ran.stdout.splitlines()[0], ran.stdout.splitlines()[-1], ran.stderr) == ("x", "0", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_and_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_TICK", 0.001)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with output.working("loading"):
        while "loading … 0 s" not in terminal.getvalue():
            sleep(0.001)
    assert terminal.getvalue().endswith("\r\x1b[K")
