"""`tidelog bench`: hand over to the benchmarks of a source checkout; they are not part of the installed package."""

from __future__ import annotations

import subprocess
import sys
from argparse import REMAINDER, ArgumentParser, Namespace
from pathlib import Path

import tidelog
from tidelog.errors import UsageError


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("arguments", nargs=REMAINDER, metavar="...", help="passed on to `python -m bench`")


def run(options: Namespace) -> int:
    checkout = Path(tidelog.__file__).parents[2]
    if not (checkout / "bench" / "__main__.py").is_file():
        raise UsageError("the benchmarks come with the source code, not with the package: run `make bench` in a clone")
    flags = ["--json"] if options.json else []
    return subprocess.run([sys.executable, "-m", "bench", *flags, *options.arguments], cwd=checkout).returncode
