"""`--engine` and `--master`: where the work is done."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tidelog.choose import ENGINES
from tidelog.errors import UsageError


def add_engine(parser: ArgumentParser) -> None:
    parser.add_argument("--engine", choices=ENGINES, default="auto", help="auto: in this process while memory suffices")
    parser.add_argument(
        "--master",
        metavar="URL",
        help="a Spark cluster: local[4], spark://host:7077, yarn, k8s://…, sc://host (Connect)",
    )


def engine(options: Namespace) -> str:
    """The engine that was asked for."""
    if options.master and options.engine == "local":
        raise UsageError("--master is for Spark; leave out --engine local")
    return str(options.engine)
