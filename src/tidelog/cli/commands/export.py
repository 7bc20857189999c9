"""`tidelog export`: the facts of a knowledge base as files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path

from tidelog.cli.options import add_engine, add_knowledge_base, add_version, as_of, engine, open_to_read
from tidelog.cli.output import print_json, print_table, warn, working


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("out", type=Path, metavar="OUT", help="a file, or a folder for several relations")
    parser.add_argument(
        "--format",
        metavar="F",
        help="nt nq ttl trig rdf jsonld (triples), csv tsv parquet delta; default: by the name of OUT",
    )
    add_version(parser)
    parser.add_argument("--kind", choices=("all", "explicit", "derived"), default="all", help="which facts")
    parser.add_argument("--relation", action="append", metavar="R", help="only this relation; may be repeated")
    parser.add_argument("--overwrite", action="store_true", help="replace what is already there")
    parser.add_argument("--partition-by", action="append", default=[], metavar="C", help="a column of Delta tables")
    add_engine(parser)


def run(options: Namespace) -> int:
    with open_to_read(options) as latest, working(f"writing {options.out}"):
        kb = as_of(latest, options.at)
        written = kb.export(
            options.out,
            options.format,
            options.kind,
            relations=options.relation,
            overwrite=options.overwrite,
            partition_by=options.partition_by,
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
