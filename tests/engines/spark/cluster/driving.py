"""A driver program that prints what it does: `python -m tests.engines.spark.cluster.driving MASTER KB DATA RULES …`.

It says each stage it comes to and waits for a line on stdin after it, so that a test can do harm at that moment.
"""

from __future__ import annotations

import sys

import tidelog
from tidelog.engines.spark.cluster.session import new_session


def main(master: str, path: str, data: str, rules: str, *settings: str) -> None:
    def told(stage: str) -> None:
        print(stage, flush=True)
        sys.stdin.readline()

    spark = new_session(master, dict(setting.split("=", 1) for setting in settings))
    with tidelog.open(path) as kb:
        kb.load(data, rules, engine="spark", progress=told)
        gone = sorted(kb.facts("triple", kind="explicit"), key=str)[::50]
        change = kb.apply(remove={"triple": gone}, engine="spark", algorithm="dred")
        print("done", change.engine, len(change.removed), kb.digest(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
