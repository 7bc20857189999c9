"""`tidelog generate`: benchmark data of any size, the same for the same seed."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tidelog.cli.output import print_json

DATA_SETS = {
    "lubm": "universities, about 130,000 triples each (LUBM)",
    "el": "an ontology of SIZE classes for EL classification",
    "cliques": "a symmetric and transitive relation over SIZE constants",
}


def configure(parser: ArgumentParser) -> None:
    described = "; ".join(f"{name}: {what}" for name, what in DATA_SETS.items())
    parser.add_argument("dataset", choices=tuple(DATA_SETS), help=described)
    parser.add_argument("size", type=int, metavar="SIZE", help="how many universities, classes or constants")
    parser.add_argument("out", type=Path, metavar="OUT", help="a file to write, or a directory for data and rules")
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other data (default: 0)")
    parser.add_argument("--format", choices=("nt", "ttl"), help="lubm only; by default from the name of OUT, else nt")


def run(options: Namespace) -> int:
    facts = _write(options)
    if options.json:
        print_json({"dataset": options.dataset, "size": options.size, "facts": facts, "out": str(options.out)})
    else:
        print(f"{facts:,} facts in {options.out}")
    return 0


def _write(options: Namespace) -> int:
    from tidelog.generate import cliques, el, lubm

    if options.dataset != "lubm":
        data_set = {"el": el, "cliques": cliques}[options.dataset]
        return int(data_set.write(options.size, options.out, seed=options.seed))
    return lubm.write(options.size, options.out, seed=options.seed, format=options.format)
