"""`--engine` and `--master`: where the work is done."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tidelog.errors import UsageError

ENGINES = ("auto", "local", "spark")


def add_engine(parser: ArgumentParser) -> None:
    parser.add_argument("--engine", choices=ENGINES, default="auto", help="spark is not available yet")


def engine(options: Namespace) -> str:
    """The engine that was asked for."""
    if options.engine == "spark" or getattr(options, "master", None):
        raise UsageError("Spark is not available yet; leave out --engine and --master to work in this process")
    return str(options.engine)
