"""Commands that read facts and rules: `query`, `export`, `inconsistencies` and `rules`."""

from __future__ import annotations

import io
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.cli.commands import (
    add_engine,
    add_knowledge_base,
    add_version,
    as_of,
    engine,
    natural,
    open_to_read,
    seconds,
)
from tidelog.cli.commands.changing import RULE_SETS, change_rule_sets
from tidelog.cli.output import (
    TEXT_FORMATS,
    print_json,
    print_rows,
    print_table,
    visible,
    warn,
    working,
)
from tidelog.cli.show_changes import inconsistencies_json
from tidelog.cli.statements import UPDATE_REQUEST
from tidelog.errors import UsageError, did_you_mean
from tidelog.queries.language import is_sparql

if TYPE_CHECKING:
    from tidelog.knowledge_base import KnowledgeBase
    from tidelog.queries.answers import Answers

_GRAPH_FORMATS = ("ttl", "nt", "rdf", "jsonld")
_ROW_FORMATS = (*TEXT_FORMATS, "parquet")
_FILE = (".rq", ".sparql")


def configure_query(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument(
        "query",
        metavar="QUERY",
        help="such as 'ancestor(ann, ?x), age(?x, ?n), ?n > 30', a SPARQL query, a file *.rq, or - for standard input",
    )
    parser.add_argument(
        "--format",
        choices=(*_ROW_FORMATS, *_GRAPH_FORMATS),
        help="default: table, and ttl for what CONSTRUCT and DESCRIBE give",
    )
    add_version(parser)
    parser.add_argument("--limit", type=natural, metavar="N", help="print at most N answers")
    parser.add_argument("--mark", action="store_true", help="say of each answer whether explicit facts alone give it")
    parser.add_argument("--timeout", type=seconds, metavar="S", help="stop a query that takes more than S seconds")
    parser.add_argument("--max-rows", type=natural, metavar="N", help="stop a query with more than N answers")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write to a file instead; it is replaced if it is there"
    )


def run_query(options: Namespace) -> int:
    """Print all values that make a pattern true, or the answer to a SPARQL query."""
    text, form = read_query_text(options.query), options.format or ("json" if options.json else "")
    if form == "parquet" and options.out is None:
        raise UsageError("parquet is for files; say which with --out FILE")
    if UPDATE_REQUEST.match(text):
        raise UsageError("that is a change, and a query changes nothing; use `tidelog update KB --sparql`")
    with open_to_read(options) as kb:
        asked = as_of(kb, options.at)
        (_answer_sparql if is_sparql(text) else _answer)(asked, text, form, options)
    return 0


def _answer(kb: KnowledgeBase, text: str, form: str, options: Namespace) -> None:
    with working("answering"):
        answers = kb.query(text, timeout=options.timeout, max_rows=options.max_rows)
    if not len(answers):
        warn_of_unknown(kb, text)
    _show_rows(answers, form, options, kb.prefixes)


def _answer_sparql(kb: KnowledgeBase, text: str, form: str, options: Namespace) -> None:
    from tidelog.queries.sparql.solutions import Solutions, write_text

    with working("answering"):
        found = kb.sparql(text, timeout=options.timeout, max_rows=options.max_rows)
    if isinstance(found, bool):
        _show_boolean(found, form, options.out)
    elif isinstance(found, Solutions):
        _show_rows(found, form, options, kb.prefixes)
    else:
        for prefix, namespace in kb.prefixes.items():
            found.bind(prefix, namespace)
        with _output(options.out):
            write_text(found, form or "ttl", sys.stdout)


def read_query_text(query: str) -> str:
    """The text of a query that is given as text, as a file *.rq, or as - for standard input."""
    if query == "-":
        return sys.stdin.read()
    if query.endswith(_FILE):
        from tidelog.changes.inputs import read_text

        return read_text(Path(query))
    return query


def _show_rows(answers: Answers, form: str, options: Namespace, prefixes: Mapping[str, str]) -> None:
    answers = answers.marked() if options.mark else answers
    if form in _GRAPH_FORMATS:
        raise UsageError(f"{form} is for graphs, and this query gives rows; choose one of: {', '.join(_ROW_FORMATS)}")
    if form == "parquet":
        from tidelog import formats

        formats.write_table(options.out, answers.to_arrow(options.limit))
        return
    with _output(options.out):
        print_rows(answers, form or "table", options.limit, prefixes)


def _show_boolean(answer: bool, form: str, out: Path | None) -> None:
    from tidelog.formats.results import write_boolean

    if form == "parquet" or form in _GRAPH_FORMATS:
        raise UsageError(f"ASK gives true or false, which {form} cannot say; choose one of: {', '.join(TEXT_FORMATS)}")
    with _output(out):
        write_boolean(answer, form or "table", sys.stdout)


def warn_of_unknown(kb: KnowledgeBase, query: str) -> None:
    """Warn if a relation of a query without answers is unknown; its name may be mistyped."""
    from tidelog.rules.parsing.parser import parse_query
    from tidelog.rules.syntax import Atom

    for atom in parse_query(query, kb.prefixes)[0]:
        if isinstance(atom, Atom) and atom.args and not kb.facts(atom.predicate).names:
            warn(f"no fact and no rule has {atom.predicate}{did_you_mean(atom.predicate, kb.status().relations)}")


@contextmanager
def _output(path: Path | None) -> Iterator[None]:
    """Send what is printed to `path`, or to standard output if it is None. The file appears when it is complete."""
    if path is None:
        yield
        return
    from tidelog import formats

    with formats.written_aside(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        with redirect_stdout(text):
            yield
        text.flush()
        text.detach()


def configure_export(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("out", type=Path, metavar="OUT", help="a file, or a folder for several relations")
    formats = "nt nq ttl trig rdf jsonld (triples), csv tsv parquet delta"
    parser.add_argument("--format", metavar="F", help=f"{formats}; default: by the name of OUT")
    add_version(parser)
    parser.add_argument("--kind", choices=("all", "explicit", "derived"), default="all", help="which facts")
    parser.add_argument("--relation", action="append", metavar="R", help="only this relation; may be repeated")
    parser.add_argument("--overwrite", action="store_true", help="replace what is already there")
    parser.add_argument("--header", action="store_true", help="CSV and TSV files start with the names of the columns")
    parser.add_argument("--partition-by", action="append", default=[], metavar="C", help="a column of Delta tables")
    add_engine(parser)


def run_export(options: Namespace) -> int:
    """Write the facts of a knowledge base to files."""
    with open_to_read(options) as latest, working(f"writing {options.out}"):
        kb = as_of(latest, options.at)
        written = kb.export(
            options.out,
            options.format,
            options.kind,
            relations=options.relation,
            overwrite=options.overwrite,
            partition_by=options.partition_by,
            header=options.header,
            engine=engine(options),
            master=options.master,
        )
        version = kb.version
    for each in written:
        if each.left_out:
            warn(f"{each.left_out:,} facts of {each.predicate} cannot be said in this format and were left out")
    if options.json:
        print_json({"version": version, "exports": [asdict(each) for each in written]})
    else:
        print_table(("relation", "facts", "file"), [(each.predicate, each.facts, each.file) for each in written])
    return 0


def configure_inconsistencies(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    add_version(parser)
    parser.add_argument("--limit", type=natural, metavar="N", help="at most N of each rule")


def run_inconsistencies(options: Namespace) -> int:
    """Print the inconsistencies. The exit code is 1 if there is one."""
    from tidelog.rules.printer import format_fact

    with open_to_read(options) as latest:
        kb = as_of(latest, options.at)
        found = kb.inconsistencies(options.limit)
        if options.json:
            print_json({"version": kb.version, "inconsistencies": inconsistencies_json(found)})
        else:
            for each in found:
                print(f"{each.name}: {visible(' '.join(format_fact(fact, kb.prefixes) for fact in each.matched))}")
            if not found:
                print("none")
    return 1 if found else 0


def configure_rules(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    add_version(parser)
    parser.add_argument(
        "--maintenance", action="store_true", help="the rules that compute changes (Volz, Staab and Motik) instead"
    )
    for name, what in (("--add-ruleset", "add this rule set"), ("--remove-ruleset", "remove this rule set")):
        parser.add_argument(name, choices=RULE_SETS, action="append", default=[], help=f"{what}; may be repeated")


def run_rules(options: Namespace) -> int:
    """Print the rules of a knowledge base as text that can be loaded again, or add and remove rule sets."""
    if options.add_ruleset or options.remove_ruleset:
        return change_rule_sets(options)
    from tidelog.rules.maintenance_rules import format_maintenance, maintenance_program
    from tidelog.rules.printer import format_program
    from tidelog.rules.syntax import RuleFile

    with open_to_read(options) as latest:
        kb = as_of(latest, options.at)
        if options.json:
            rules = maintenance_program(kb.rules) if options.maintenance else kb.rules
            print_json({"version": kb.version, "prefixes": dict(kb.prefixes), "rules": [str(rule) for rule in rules]})
            return 0
        declared = RuleFile(prefixes=dict(kb.prefixes), rules=[] if options.maintenance else list(kb.rules))
        print(format_program(declared), end="")
        if options.maintenance:
            print(format_maintenance(kb.rules, kb.prefixes), end="")
    return 0
