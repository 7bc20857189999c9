"""Describes the machine, the versions and the commit of a result, and measures the memory of a process."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path


def describe() -> dict[str, object]:
    return {
        "commit": commit(),
        "cpu": cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(physical_bytes() / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "load_average": round(os.getloadavg()[0], 2),
    }


def commit() -> str:
    """The short commit hash, with `+` if the tree has changes that are not committed."""
    head = _git("rev-parse", "--short", "HEAD")
    return (head + "+" * bool(_git("status", "--porcelain", "--", "src", "bench"))) if head else "not committed"


def _git(*arguments: str) -> str:
    folder = Path(__file__).parent.parent
    try:
        return subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def physical_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def resident_bytes() -> int:
    """The memory of this process now; its peak if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak_bytes()


def peak_bytes() -> int:
    """The peak memory of this process. On Linux, without the memory that it inherited from its parent."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
