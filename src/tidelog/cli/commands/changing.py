"""Commands that change a knowledge base: `init`, `load` and `update`."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tidelog.cli.commands import add_engine, add_knowledge_base, engine, natural, open_to_change, open_to_read
from tidelog.cli.output import print_json, print_table, warn, working
from tidelog.cli.show_changes import add_show, change_json, preview_json, print_change, print_preview
from tidelog.errors import InputError, StoreError, UsageError
from tidelog.model.addresses import directory_path, scheme_of

if TYPE_CHECKING:
    from tidelog.changes.result import Change
    from tidelog.formats import Reading
    from tidelog.knowledge_base import KnowledgeBase


RULE_SETS = ("rhodf", "rdfs", "owl2rl")
EQUALITIES = ("off", "rewriting")


def configure_init(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("--ruleset", choices=RULE_SETS, help="start with the rules of ρdf, RDFS or OWL 2 RL")
    parser.add_argument(
        "--rules", type=Path, nargs="+", action="extend", default=[], metavar="FILE", help="start with these rules"
    )
    parser.add_argument(
        "--strict", action="store_true", help="refuse changes that lead to inconsistencies instead of listing them"
    )
    parser.add_argument(
        "--equality",
        choices=EQUALITIES,
        default=EQUALITIES[0],
        help="owl:sameAs as a property like any other, or by rewriting: one term stands for all equal ones",
    )


def run_init(options: Namespace) -> int:
    """Create a knowledge base. It is built under another name and renamed last, so it is never seen half-made."""
    import tidelog

    directory_path(options.kb)
    _refuse_occupied(options.kb)
    with _renamed_when_complete(options.kb) as folder, tidelog.open(folder) as kb:
        _apply_settings(kb, options)
        version, rules = kb.version, len(kb.rules)
    if options.json:
        made = {"kb": str(options.kb), "version": version, "rules": rules}
        print_json(made | {"ruleset": options.ruleset, "strict": options.strict, "equality": options.equality})
    else:
        print(f"{options.kb}: a new knowledge base with {rules} rules")
    return 0


def _apply_settings(kb: KnowledgeBase, options: Namespace) -> None:
    """Commit the rules and settings that were given, as one version; commit nothing if none was given."""
    from tidelog import rulesets

    kept = {"ruleset": options.ruleset} if options.ruleset else {}
    kept |= {"strict": True} if options.strict else {}
    kept |= {"equality": options.equality} if options.equality != EQUALITIES[0] else {}
    if kept or options.rules:
        named = [rulesets.get(options.ruleset)] if options.ruleset else []
        kb.apply(add_rules=[*named, *options.rules], options=kept, message="init")


def change_rule_sets(options: Namespace) -> int:
    """Add and remove rule sets in one change. A rule that another rule set of the knowledge base has, too, stays."""
    from tidelog import rulesets

    if options.maintenance or options.at is not None:
        raise UsageError("--add-ruleset and --remove-ruleset change the rules; leave out --maintenance and --at")
    with open_to_change(options) as kb:
        known = str(kb.options.get("ruleset") or "").split()
        left = [name for name in (*known, *options.add_ruleset) if name not in options.remove_ruleset]
        names = list(dict.fromkeys(left))
        kept = {rule.key for name in names for rule in rulesets.get(name)}
        gone = {r.key: r for name in options.remove_ruleset for r in rulesets.get(name) if r.key not in kept}
        with working("changing rules"):
            change = kb.apply(
                add_rules=[rulesets.get(name) for name in options.add_ruleset],
                remove_rules=list(gone.values()),
                options={"ruleset": " ".join(names)},
                message=f"rule sets: {' '.join(names) or 'none'}",
            )
        if options.json:
            print_json({**change_json(change, 0), "ruleset": " ".join(names) or None, "rules": len(kb.rules)})
        else:
            print_change(change, kb.prefixes, 0)
    return 0


def _refuse_occupied(path: Path) -> None:
    """Raise an error unless `path` is free or an empty directory. Opening a path that is neither names the problem."""
    import tidelog

    if not os.path.lexists(path) or (path.is_dir() and not os.listdir(path)):
        return
    with tidelog.open(path, read_only=True) as kb:
        raise StoreError(
            f"{path} is a knowledge base already, at version {kb.version}. Change it with `tidelog load {path}` or "
            f"`tidelog update {path}`, or give another path"
        )


@contextmanager
def _renamed_when_complete(path: Path) -> Iterator[Path]:
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield aside
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    aside.rename(path)


def configure_load(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    names = "data, programs, patterns such as 'data/*.nt.gz', or - for standard input"
    parser.add_argument("files", nargs="+", metavar="FILE", help=names)
    parser.add_argument("--relation", metavar="NAME", help="the relation of the rows; default: the name of the file")
    parser.add_argument("--format", metavar="F", help="the format, such as csv or turtle; default: by the name")
    parser.add_argument("--header", action="store_true", help="the first row of a table has the names of its columns")
    parser.add_argument("--delimiter", metavar="C", help="the character between the cells of a row: ';' or '\\t'")
    parser.add_argument("--types", action="store_true", help="recognise dates, times, booleans and numbers such as 1e3")
    add_engine(parser)
    parser.add_argument(
        "--bad-lines",
        choices=("fail", "skip", "quarantine"),
        default="fail",
        help="what to do with an invalid line: fail and load nothing, skip it, or write it to a file",
    )
    parser.add_argument("--quarantine", metavar="FILE", help="the file for invalid lines; default: KB.bad-lines.jsonl")
    replaced = "the relations of the files become what the files hold, by the smallest change"
    parser.add_argument("--replace", action="store_true", help=replaced)
    parser.add_argument("--message", default="", metavar="M", help="text for `tidelog log` about this version")
    add_show(parser, 0, "default: none")


def run_load(options: Namespace) -> int:
    """Load files into a knowledge base: all of them, or none if one fails."""
    chosen, quarantine = engine(options), options.quarantine
    if options.bad_lines == "quarantine":
        quarantine = quarantine or f"{options.kb}.bad-lines.jsonl"
    with open_to_change(options) as kb, _files(options) as files:
        with working(f"loading {' '.join(options.files)}") as say:
            change = kb.load(
                *files,
                relation=options.relation,
                replace=options.replace,
                engine=chosen,
                master=options.master,
                message=options.message,
                bad_lines=options.bad_lines,
                quarantine=quarantine,
                progress=say,
                **_reading(options),
            )
        if change.bad_lines:
            where = f"; they are in {quarantine}" if options.bad_lines == "quarantine" else ""
            warn(f"{change.bad_lines:,} lines could not be read and were skipped{where}")
        if options.json:
            print_json(change_json(change, options.show))
        else:
            print_change(change, kb.prefixes, options.show)
    return 0


@contextmanager
def _files(options: Namespace) -> Iterator[list[str]]:
    """The files to load. Standard input becomes a temporary file, because readers may read it twice."""
    if "-" not in options.files:
        yield options.files
        return
    if options.format is None:
        raise UsageError("standard input has no name that gives its format; say it, for example --format csv")
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "stdin"
        with copy.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        yield [str(copy) if file == "-" else file for file in options.files]


def _reading(options: Namespace) -> Reading:
    """The options of `load` that say how files are read."""
    given: Reading = {"header": options.header, "types": options.types}
    if options.format is not None:
        given["format"] = options.format
    if options.delimiter is not None:
        given["delimiter"] = options.delimiter
    return given


def configure_revert(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument(
        "version", type=natural, metavar="V", help="the version to go back to (`tidelog log KB` lists them)"
    )
    parser.add_argument("--message", default="", metavar="M", help="text for `tidelog log` about this version")
    add_show(parser, 0, "default: none")


def run_revert(options: Namespace) -> int:
    """Make a new version that equals an older one."""
    with open_to_change(options) as kb:
        with working(f"reverting to version {options.version}"):
            change = kb.revert(options.version, message=options.message)
        if options.json:
            print_json(change_json(change, options.show))
        else:
            print_change(change, kb.prefixes, options.show)
    return 0


def configure_prefix(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("prefix", nargs="?", metavar="PREFIX", help="the prefix to add, such as ex; default: list all")
    parser.add_argument("iri", nargs="?", metavar="IRI", help="the beginning of the IRIs it stands for")
    parser.add_argument("--remove", action="store_true", help="remove the prefix")


def run_prefix(options: Namespace) -> int:
    """List the prefixes of a knowledge base, or add or remove one."""
    if options.remove != (options.prefix is not None and options.iri is None):
        raise UsageError("give PREFIX and IRI to add a prefix, PREFIX and --remove to remove one, or none to list all")
    if options.prefix is None:
        with open_to_read(options) as kb:
            declared = dict(kb.prefixes)
    else:
        with open_to_change(options) as kb:
            kb.declare({options.prefix.removesuffix(":"): options.iri})
            declared = dict(kb.prefixes)
    if options.json:
        print_json({"prefixes": declared})
    else:
        print_table(("prefix", "IRI"), [(f"{prefix}:", iri) for prefix, iri in declared.items()])
    return 0


CHANGE_OPTIONS = {
    "add": "facts to add",
    "remove": "facts to remove",
    "add_rules": "rules to add",
    "remove_rules": "rules to remove",
}
ALGORITHMS = (
    *("auto", "bf", "budgeted", "dred", "dred+bf", "dred+rematerialise", "fp", "counting", "counting+bf"),
    *("recursive-counting", "declarative", "rematerialise"),
)
_SHOWN_IN_DRY_RUN = 100  # facts of a preview that are shown


def configure_update(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    for name, what in CHANGE_OPTIONS.items():
        where = f"{what}: a file, a text, or - for standard input; may be repeated"
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, action="append", metavar="F", help=where)
    parser.add_argument("--sparql", metavar="F", help="a SPARQL 1.1 Update request instead: a file, a text, or -")
    allowed = "a file or folder that LOAD may read; may be repeated"
    parser.add_argument("--allow", action="append", default=[], metavar="PATH", help=allowed)
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="auto", help="all give the same result")
    add_engine(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--message", default="", metavar="M", help="text for `tidelog log` about this version")
    add_show(parser, None, f"default: none; {_SHOWN_IN_DRY_RUN} in a dry run")


def run_update(options: Namespace) -> int:
    """Add and remove facts and rules in one change, or show what the change would do."""
    change_of = _sparql_change(options) if options.sparql is not None else _facts_and_rules_change(options)
    with (open_to_read if options.dry_run else open_to_change)(options) as kb:
        with working("updating"):
            change = change_of(kb)
        if options.json:
            fields = preview_json if options.dry_run else change_json
            print_json({**fields(change, options.show or 0), "dry_run": options.dry_run})
        elif options.dry_run:
            print_preview(change, kb.prefixes, _SHOWN_IN_DRY_RUN if options.show is None else options.show)
        else:
            print_change(change, kb.prefixes, options.show or 0)
    return 0


def _facts_and_rules_change(options: Namespace) -> Callable[[KnowledgeBase], Change]:
    add, remove, add_rules, remove_rules = _sources(options)
    chosen = engine(options)

    def change(kb: KnowledgeBase) -> Change:
        attempt = kb.preview if options.dry_run else partial(kb.apply, message=options.message)
        return attempt(add, remove, add_rules, remove_rules, options.algorithm, chosen, master=options.master)

    return change


def _sparql_change(options: Namespace) -> Callable[[KnowledgeBase], Change]:
    if any(getattr(options, name) for name in CHANGE_OPTIONS):
        raise UsageError("--sparql is a change of its own; give it without --add, --remove and rules")
    text = _sparql_text(options.sparql)
    return lambda kb: kb.update(text, options.allow, message=options.message, dry_run=options.dry_run)


def _sparql_text(text: str) -> str:
    """The text of a SPARQL request. `text` is -, the name of a file, or the request itself."""
    if text == "-":
        return sys.stdin.read()
    if not _is_file(text) and any(c.isspace() for c in text):
        return text
    from tidelog.changes.inputs import read_text

    return read_text(Path(text))


def _sources(options: Namespace) -> list[list[str | Path]]:
    """The sources of each option in `CHANGE_OPTIONS`. Raises UsageError if all are empty or - is given twice."""
    given: list[list[str]] = [getattr(options, name) or [] for name in CHANGE_OPTIONS]
    if not any(given):
        raise UsageError("nothing to change; give --add, --remove, --add-rules, --remove-rules or --sparql")
    if sum(texts.count("-") for texts in given) > 1:
        raise UsageError("standard input can be read once, and - was given more than once")
    return [[_source(text) for text in texts] for texts in given]


def _source(text: str) -> str | Path:
    """What `text` stands for: standard input, a file, or facts and rules."""
    if text == "-":
        return sys.stdin.read()
    if _is_file(text):
        return Path(text)
    if scheme_of(text):
        return text
    if not any(c in text for c in "(["):
        raise InputError(f"{text}: there is no such file, and a fact or rule looks like 'parent(ann, bob) .'")
    return text


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # for example, too long for a file name
        return False
