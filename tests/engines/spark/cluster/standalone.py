"""A real Spark cluster on loopback, from the pip package: one master, two workers with one core each.

Every wait is bounded, and only processes that were started here are ended, by their numbers.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from tidelog.engines.spark.cluster.java import find_java

HOST = "127.0.0.1"
PATIENCE = 120  # seconds
WORKERS = 2
EXECUTOR = "CoarseGrainedExecutorBackend"


class Standalone:
    """The address of the master, and the processes of its workers."""

    def __init__(self, master: str, workers: list[int]) -> None:
        self.master = master
        self.workers = workers

    def executors(self) -> list[int]:
        """The processes of executors: children of the workers."""
        return [pid for worker in self.workers for pid in _children(worker) if EXECUTOR in _command(pid)]


@contextmanager
def standalone(folder: Path) -> Iterator[Standalone]:
    port = _free_port()
    master = f"spark://{HOST}:{port}"
    processes = [
        _start(folder, "master", "org.apache.spark.deploy.master.Master", "--host", HOST, "--port", str(port)),
        *(
            _start(folder, f"worker{i}", "org.apache.spark.deploy.worker.Worker", "--host", HOST, "--cores", "1",
                   "--memory", "1g", "--work-dir", str(folder / f"work{i}"), master)
            for i in range(WORKERS)
        ),
    ]  # fmt: skip
    try:
        _wait_for(folder / "master.log", "Registering worker", WORKERS)
        yield Standalone(master, [p.pid for p in processes[1:]])
    finally:
        for process in reversed(processes):
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def _start(folder: Path, name: str, *command: str) -> subprocess.Popen[bytes]:
    home = Path(pyspark.__file__).parent
    java = find_java()
    assert java is not None
    environment = {
        **os.environ, "SPARK_LOCAL_IP": HOST, "SPARK_NO_DAEMONIZE": "1", "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(home),
    }  # fmt: skip
    with (folder / f"{name}.log").open("wb") as log:
        words = [str(home / "bin" / "spark-class"), *command, "--webui-port", "0"]
        return subprocess.Popen(words, env=environment, stdout=log, stderr=log, cwd=folder)


def _wait_for(log: Path, text: str, times: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while log.read_text(errors="replace").count(text) < times:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{log.name}: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # gone meanwhile
                continue
            if int(fields[1]) == parent:
                found.append(int(entry.name))
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def kill(pid: int) -> None:
    """At once, as the system does when memory is short."""
    os.kill(pid, signal.SIGKILL)
