"""The command `shell`: reads lines from a terminal, with history and completion, or from standard input."""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.cli.commands import natural
from tidelog.cli.output import warn

if TYPE_CHECKING:
    from tidelog.cli.shell import Shell

_HISTORY_LENGTH = 1_000
_DELIMITERS = " \t\n,()[]{}|;~"
_KEYWORDS = ("SELECT", "WHERE", "ASK", "CONSTRUCT", "DESCRIBE", "FILTER", "OPTIONAL", "UNION", "ORDER BY", "LIMIT")


def configure_shell(parser: ArgumentParser) -> None:
    help = "the directory of the knowledge base; without it the shell works on a new one in memory"
    parser.add_argument("kb", type=Path, nargs="?", metavar="KB", help=help)
    parser.add_argument("--read-only", action="store_true", help="refuse changes")
    parser.add_argument("--limit", type=natural, metavar="N", help="print at most N answers of a query")


def run_shell(options: Namespace) -> int:
    """Run the shell. For a script on standard input the exit code is 1 if a statement failed."""
    import tidelog
    from tidelog.cli.shell import Shell

    is_terminal = sys.stdin.isatty()
    with tidelog.open(options.kb, read_only=options.read_only, create=options.kb is None) as kb:
        shell = Shell(kb, limit=options.limit, json=options.json)
        if not is_terminal:
            return _script(shell)
        where = options.kb or "a knowledge base in memory"
        print(f"{where}, version {kb.version}. Type .help for help, .quit to leave.")
        with _line_editing(shell):
            _converse(shell)
    return 0


def _script(shell: Shell) -> int:
    for line in sys.stdin:
        shell.feed(line.rstrip("\n"))
        if shell.done:
            break
    else:
        shell.finish()
    return 1 if shell.failed else 0


def _converse(shell: Shell) -> None:
    while not shell.done:
        try:
            line = input(shell.prompt)
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print()
            shell.interrupt()
            continue
        _remember(shell.feed(line))


def _remember(statement: str | None) -> None:
    """Add a complete statement to the history, as one line."""
    try:
        import readline
    except ImportError:
        return
    if statement:
        readline.add_history(" ".join(re.sub(r"(?m)^\s*%.*$", "", statement).split("\n")))


def history_file() -> Path:
    """The file of the history, in the user's folder for state."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state, "tidelog", "history")


@contextmanager
def _line_editing(shell: Shell) -> Iterator[None]:
    """History and completion while the block runs, if Python has readline."""
    try:
        import readline
    except ImportError:
        yield
        return
    path = history_file()
    completer = Completer(shell)
    readline.set_completer(completer.complete)
    readline.set_completer_delims(_DELIMITERS)
    readline.set_auto_history(False)
    readline.set_history_length(_HISTORY_LENGTH)
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    try:
        if path.exists():
            readline.read_history_file(path)
        yield
    finally:
        readline.set_completer(None)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(path)
        except OSError as error:
            warn(f"the history was not saved: {error}")


class Completer:
    """Completes commands, relations, prefixes, and the properties and classes of RDF data."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self._names: tuple[int, list[str]] = (-1, [])  # of a version
        self._found: list[str] = []

    def complete(self, text: str, state: int) -> str | None:
        """The completion number `state` of a word, as readline asks for it."""
        if state == 0:
            import readline

            self._found = self.candidates(readline.get_line_buffer(), text)
        return self._found[state] if state < len(self._found) else None

    def candidates(self, line: str, word: str) -> list[str]:
        """The completions of `word`, the last word of `line`."""
        from tidelog.cli.shell import COMMANDS
        from tidelog.queries.language import is_sparql

        if word.startswith(".") and line.lstrip() == word:
            return [c.name for c in COMMANDS if c.name.startswith(word)]
        if line.startswith(".load "):
            return _files(word)
        keywords = _KEYWORDS if is_sparql(line) or line.lstrip() == word else ()
        return [n for n in (*self.names(), *keywords) if n.startswith(word)]

    def names(self) -> list[str]:
        """The relations and prefixes, and the IRIs in the second column of triples, of the version shown."""
        from tidelog.model.terms import TRIPLE
        from tidelog.rules.printer import format_predicate

        kb = self.shell.kb
        if self._names[0] != kb.version:
            relations = kb.status().relations
            names = {format_predicate(p, kb.prefixes) for p in relations} | {f"{p}:" for p in kb.prefixes}
            if 0 < (relations[TRIPLE].facts if TRIPLE in relations else 0) <= _MOST_TRIPLES:
                names |= {format_predicate(str(p), kb.prefixes) for (p,) in kb.query(f"{TRIPLE}(_, ?p, _)")}
            self._names = kb.version, sorted(names)
        return self._names[1]


_MOST_TRIPLES = 1_000_000  # beyond, properties are not completed


def _files(start: str) -> list[str]:
    path = Path(start)
    folder = path if start.endswith("/") else path.parent
    found = (p for p in folder.glob("*") if str(p).startswith(str(path) if start else ""))
    return sorted(f"{p}/" if p.is_dir() else str(p) for p in found)
