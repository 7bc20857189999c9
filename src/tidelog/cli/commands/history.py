"""Commands about versions and files: `status`, `log`, `diff`, `verify` and `compact`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.cli.commands import add_knowledge_base, natural, open_to_change, open_to_read
from tidelog.cli.output import file_size, print_json, print_rest, print_table, shown_rows, working
from tidelog.cli.show_changes import add_show, facts_json, print_facts, print_rules

if TYPE_CHECKING:
    from tidelog.queries.status import Status
    from tidelog.store.verification import Verification


def configure_status(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)


def run_status(options: Namespace) -> int:
    """Print the version, the settings and the size of a knowledge base."""
    with open_to_read(options) as kb:
        found = kb.status()
    if options.json:
        print_json(asdict(found))
    else:
        _print_status(found)
    return 0


def _print_status(found: Status) -> None:
    lines = {
        "version": f"{found.version} (the oldest that can be read is {found.oldest})",
        "digest": found.digest,
        "facts": f"{found.facts:,} ({found.explicit:,} explicit, {found.derived:,} derived)",
        "rules": f"{found.rules:,}{f', with {found.ruleset}' if found.ruleset else ''}",
        "strict": "yes" if found.strict else "no",
        "on disk": f"{file_size(found.bytes)}, format {found.format}",
    }
    for name, value in lines.items():
        print(f"{name:<9}{value}")
    if found.relations:
        print()
        rows = [(name, counts.facts, counts.explicit, counts.derived) for name, counts in found.relations.items()]
        print_table(("relation", "facts", "explicit", "derived"), rows)


def configure_log(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("--limit", type=natural, metavar="N", help="only the newest N")


def run_log(options: Namespace) -> int:
    """Print the versions of a knowledge base, newest first."""
    with open_to_read(options) as kb:
        versions = kb.versions()
    if options.json:
        print_json({"versions": [asdict(version) for version in versions[::-1][: options.limit]]})
    else:
        limit = shown_rows(len(versions), options.limit)
        print_table(versions.HEADER, versions.rows(limit))
        if options.limit is None:
            print_rest(len(versions), limit)
    return 0


def configure_diff(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("older", type=natural, metavar="V1", help="a version")
    parser.add_argument("newer", type=natural, metavar="V2", help="the version to compare it with")
    add_show(parser, None, "default: all")
    kinds = "explicit: only what was added and removed, which gives the same change when it is loaded again"
    parser.add_argument("--kind", choices=("all", "explicit"), default="all", help=kinds)


def run_diff(options: Namespace) -> int:
    """Print the differences between two versions, as `+` and `-` lines."""
    with open_to_read(options) as kb:
        found = kb.diff(options.older, options.newer)
        if options.kind == "explicit":
            found = replace(found, added=found.added_explicit, removed=found.removed_explicit)
        if options.json:
            rules = {"added_rules": found.added_rules, "removed_rules": found.removed_rules}
            texts = {name: [str(rule) for rule in some] for name, some in rules.items()}
            facts = facts_json(found, options.show)
            print_json({"older": options.older, "newer": options.newer, **facts, **texts})
            return 0
        print_rules(found.removed_rules, found.added_rules, kb.prefixes)
        print_facts(found.removed, found.added, kb.prefixes, options.show)
    return 0


def configure_verify(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("--recompute", action="store_true", help="also derive all facts again and compare them")


def run_verify(options: Namespace) -> int:
    """Read and check all files of a knowledge base. Prints the problems; the exit code is 1 if there is one."""
    with working("verifying"):
        report = _verified(options)
    if options.json:
        print_json({"ok": report.ok, **asdict(report)})
    else:
        _print_verification(report)
    return 0 if report.ok else 1


def _verified(options: Namespace) -> Verification:
    from tidelog.errors import CorruptionError
    from tidelog.store.verification import examine

    try:
        with open_to_read(options) as kb:
            return kb.verify(recompute=options.recompute)
    except CorruptionError:
        return examine(options.kb)


def _print_verification(report: Verification) -> None:
    for problem in report.problems:
        print(f"problem: {problem}")
    looked = f"version {report.version}, {report.versions} versions, {report.files} files, {file_size(report.bytes)}"
    again = ", everything derived again" if report.recomputed else ""
    print(f"{looked}{again}: {'no problem found' if report.ok else 'damaged; restore it from a copy'}")


def configure_backup(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("out", type=Path, metavar="OUT", help="the path of the copy, which must be free")


def run_backup(options: Namespace) -> int:
    """Copy a knowledge base, also while another process changes it."""
    with open_to_read(options) as kb, working("copying"):
        version = kb.backup(options.out)
    _report_copy(options, options.out, version)
    return 0


def configure_restore(parser: ArgumentParser) -> None:
    parser.add_argument("backup", type=Path, metavar="BACKUP", help="what `tidelog backup` has written")
    parser.add_argument("kb", type=Path, metavar="KB", help="the path of the knowledge base, which must be free")


def run_restore(options: Namespace) -> int:
    """Make a knowledge base of a backup, which is checked first."""
    import tidelog
    from tidelog.errors import CorruptionError

    with tidelog.open(options.backup, read_only=True) as kb, working("checking and copying"):
        report = kb.verify()
        if not report.ok:
            raise CorruptionError(f"{options.backup} is damaged: {report.problems[0]}. Restore from another backup")
        version = kb.backup(options.kb)
    _report_copy(options, options.kb, version)
    return 0


def _report_copy(options: Namespace, made: Path, version: int) -> None:
    if options.json:
        print_json({"kb": str(made), "version": version})
    else:
        print(f"{made}: version {version}")


def configure_compact(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument(
        "--keep", type=natural, metavar="N", help="forget all versions but the newest N and the present one"
    )


def run_compact(options: Namespace) -> int:
    """Rewrite a knowledge base as one set of files; with --keep, also forget old versions."""
    with open_to_change(options) as kb:
        before = kb.status().bytes
        with working("compacting"):
            kb.compact(options.keep)
        after = kb.status()
    if options.json:
        print_json({"version": after.version, "oldest": after.oldest, "bytes_before": before, "bytes": after.bytes})
    else:
        sizes = f"{file_size(before)} became {file_size(after.bytes)}"
        print(f"{sizes}; versions {after.oldest} to {after.version} can be read")
    return 0
