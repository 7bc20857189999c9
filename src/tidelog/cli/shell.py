"""The interactive shell of a knowledge base, see `docs/shell.md`. `Shell.feed` takes one line of input."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tidelog.cli.commands.explaining import print_explanation
from tidelog.cli.commands.reading import warn_of_unknown
from tidelog.cli.output import print_json, print_rows, print_table
from tidelog.cli.show_changes import change_json, print_change, print_preview
from tidelog.cli.statements import is_complete, kind_of, query_text
from tidelog.errors import TidelogError, UsageError, did_you_mean

if TYPE_CHECKING:
    from tidelog.changes.result import Change
    from tidelog.knowledge_base import KnowledgeBase
    from tidelog.rules.syntax import RuleFile

_SHOWN = 10  # facts of a change
_CONTINUED = "...> "
_COMMENTS = re.compile(r"(?m)^\s*%.*$")


class ShellCommand(NamedTuple):
    """A command of the shell: its name, its argument as shown in the help, and what it does."""

    name: str
    argument: str
    help: str


COMMANDS = (
    ShellCommand(".help", "", "print this help"),
    ShellCommand(".relations", "", "list the relations and how many facts they have"),
    ShellCommand(".rules", "", "print the rules"),
    ShellCommand(".explain", "FACT", "show why a fact holds"),
    ShellCommand(".why-not", "FACT", "show why a fact does not hold"),
    ShellCommand(".preview", "STATEMENT", "show what a statement would change; `remove` may stand before it"),
    ShellCommand(".remove", "STATEMENT", "remove facts or rules"),
    ShellCommand(".load", "FILE...", "load data files and programs"),
    ShellCommand(".log", "", "list the versions, newest first"),
    ShellCommand(".at", "[V]", "show version V; without V the newest version again"),
    ShellCommand(".prefix", "[PREFIX: <IRI>]", "list the prefixes, or declare one"),
    ShellCommand(".limit", "N", "print at most N answers"),
    ShellCommand(".quit", "", "leave the shell"),
)
HELP = """\
p(a) .                   add facts; they end with a dot
q(?x) :- p(?x) .         add rules
q(?x), ?x != a           query; write no dot at the end, or ?- at the start
SELECT ?x WHERE { … }    query in SPARQL; INSERT DATA { … } and the like change
"""


class Shell:
    """Runs statements on a knowledge base and prints their results. An error is printed and never ends the shell.

    `failed` tells whether there was an error, `done` whether the user has left.
    """

    def __init__(self, kb: KnowledgeBase, *, limit: int | None = None, json: bool = False) -> None:
        self.newest = kb
        self.kb = kb
        self.limit = limit
        self.json = json
        self.done = self.failed = False
        self._lines: list[str] = []

    @property
    def prompt(self) -> str:
        if self._lines:
            return _CONTINUED
        return "tidelog> " if self.kb is self.newest else f"tidelog@{self.kb.version}> "

    def feed(self, line: str) -> str | None:
        """Take a line. If it completes a statement, run the statement and return its text."""
        self._lines.append(line)
        text = "\n".join(self._lines).strip()
        if line.strip() and not is_complete(text):
            return None
        self._lines = []
        if _COMMENTS.sub("", text).strip():
            self._run(text)
        return text

    def finish(self) -> None:
        """Run what stands before the end of the input."""
        self.feed("")

    def interrupt(self) -> None:
        """Forget the lines of the statement that is not complete."""
        self._lines = []

    def _run(self, text: str) -> None:
        try:
            self._statement(text)
        except KeyboardInterrupt:
            self._fail("interrupted; nothing was changed")
        except (TidelogError, OSError, RecursionError) as error:
            self._fail(str(error))
        except MemoryError:
            self._fail("out of memory; set TIDELOG_MEMORY to less than the machine has")
        except Exception as error:  # a mistake of ours must not end the session
            self._fail(f"unexpected {type(error).__name__}: {error}")
        sys.stdout.flush()

    def _fail(self, message: str) -> None:
        self.failed = True
        sys.stdout.flush()
        print(f"error: {message}", file=sys.stderr, flush=True)

    def _statement(self, text: str) -> None:
        match kind_of(text):
            case "command":
                self._command(text)
            case "query":
                self._query(query_text(text))
            case "sparql":
                self._sparql(text)
            case "update":
                self._show(self._newest().update(text))
            case "change":
                self._change(text)

    def _query(self, text: str) -> None:
        answers = self.kb.query(text)
        if not len(answers) and answers.names and not self.json:
            print("no answers")
            warn_of_unknown(self.kb, text)
            return
        print_rows(answers, "json" if self.json else "table", self.limit, self.kb.prefixes)

    def _sparql(self, text: str) -> None:
        from tidelog.queries.sparql.solutions import Solutions, write_text

        found = self.kb.sparql(text)
        if isinstance(found, bool):
            print("true" if found else "false")
        elif not isinstance(found, Solutions):
            write_text(found, "ttl", sys.stdout)
        elif len(found) or self.json:
            print_rows(found, "json" if self.json else "table", self.limit, self.kb.prefixes)
        else:
            print("no answers")

    def _change(self, text: str) -> None:
        program = self._program(text)
        if program.prefixes:
            self._newest().declare(dict(program.prefixes))
        if program.facts or program.rules:
            self._show(self._newest().apply(add=program.facts, add_rules=program.rules))

    def _program(self, text: str) -> RuleFile:
        from tidelog.rules.parsing.parser import parse_program

        program = parse_program(text, "<shell>", prefixes=self.kb.prefixes)
        if program.imports or program.exports:
            raise UsageError("imports and exports belong into a program; load a file with .load FILE")
        return program

    def _newest(self) -> KnowledgeBase:
        if self.kb is not self.newest:
            raise UsageError(f"version {self.kb.version} cannot be changed; go to the newest version with .at")
        return self.newest

    def _show(self, change: Change) -> None:
        if self.json:
            print_json(change_json(change, _SHOWN))
        else:
            print_change(change, self.kb.prefixes, _SHOWN)

    def _command(self, text: str) -> None:
        name, _, argument = text.partition(" ")
        known = [command.name for command in COMMANDS]
        if name not in known:
            raise UsageError(f"unknown command {name}{did_you_mean(name, known)}; .help lists the commands")
        needed = next(command.argument for command in COMMANDS if command.name == name)
        if needed and not needed.startswith("[") and not argument.strip():
            raise UsageError(f"{name} needs an argument: {name} {needed}")
        run: Callable[[str], None] = getattr(self, f"_do_{name[1:].replace('-', '_')}")
        run(argument.strip())

    def _do_help(self, _: str) -> None:
        print(HELP)
        print_table(("command", ""), [(f"{c.name} {c.argument}", c.help) for c in COMMANDS])

    def _do_relations(self, _: str) -> None:
        from tidelog.rules.printer import format_predicate

        relations = self.kb.status().relations
        rows = [(format_predicate(p, self.kb.prefixes), c.facts, c.explicit) for p, c in relations.items()]
        print_table(("relation", "facts", "explicit"), rows)

    def _do_rules(self, _: str) -> None:
        from tidelog.rules.printer import format_rule

        for rule in self.kb.rules:
            print(format_rule(rule, self.kb.prefixes))

    def _do_explain(self, fact: str) -> None:
        why_not = self.kb.why_not(fact.removesuffix("."))
        print_explanation(self.kb.explain(fact.removesuffix(".")) if why_not.holds else why_not, self._form)

    def _do_why_not(self, fact: str) -> None:
        print_explanation(self.kb.why_not(fact.removesuffix(".")), self._form)

    @property
    def _form(self) -> str:
        return "json" if self.json else "tree"

    def _do_preview(self, text: str) -> None:
        kb, removed = self._newest(), text.removeprefix("remove ")
        program = self._program(_with_dot(removed))
        facts, rules = program.facts, program.rules
        change = kb.preview(remove=facts, remove_rules=rules) if removed != text else kb.preview(facts, None, rules)
        if self.json:
            print_json(change_json(change, _SHOWN))
        else:
            print_preview(change, kb.prefixes, _SHOWN)

    def _do_remove(self, text: str) -> None:
        program = self._program(_with_dot(text))
        self._show(self._newest().apply(remove=program.facts, remove_rules=program.rules))

    def _do_load(self, files: str) -> None:
        import shlex

        self._show(self._newest().load(*shlex.split(files)))

    def _do_log(self, _: str) -> None:
        versions = self.newest.versions()
        print_table(versions.HEADER, versions.rows(len(versions)))

    def _do_at(self, version: str) -> None:
        if version and not version.isdecimal():
            raise UsageError(f".at {version}: expected the number of a version; .log lists them")
        self.kb = self.newest.at(int(version)) if version else self.newest
        print(f"version {self.kb.version}{'' if version else ', the newest'}")

    def _do_prefix(self, text: str) -> None:
        if text:
            declared = self._program(f"@prefix {_with_dot(text)}").prefixes
            self._newest().declare(dict(declared))
        else:
            print_table(("prefix", "IRI"), [(f"{prefix}:", iri) for prefix, iri in self.kb.prefixes.items()])

    def _do_limit(self, number: str) -> None:
        if not number.isdecimal():
            raise UsageError(f".limit {number}: expected a number")
        self.limit = int(number)

    def _do_quit(self, _: str) -> None:
        self.done = True


def _with_dot(text: str) -> str:
    return text if text.rstrip().endswith(".") else f"{text} ."
