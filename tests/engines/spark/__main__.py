"""`python -m tests.engines.spark FIRST LAST --shards 3` replays random histories on Spark, many of them united in one.

The long tier of the Spark engine. It ends at the first difference. `--in-process` replays them without Spark.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from tests.engines.spark.engines import spark_engine
from tests.engines.spark.replaying import replay_in_turns
from tests.engines.spark.united import batches, united
from tidelog.engines.spark.cluster.cluster import Cluster, InProcess, SparkCluster


@contextmanager
def cluster_for(options: Namespace) -> Iterator[Cluster]:
    if options.in_process:
        yield InProcess()
        return
    from tidelog.engines.spark.cluster.session import new_session

    spark = new_session(options.master)
    try:
        yield SparkCluster(spark)
    finally:
        spark.stop()


def main(options: Namespace) -> None:
    start, done = perf_counter(), 0
    with cluster_for(options) as cluster:
        for number, seeds in enumerate(batches(range(options.first, options.last), options.batch)):
            with spark_engine(options.shards, options.small, cluster) as engine:
                replay_in_turns(engine, united(seeds), number, f"united({seeds})")
                jobs = engine.driver.jobs
            done += len(seeds)
            print(f"{done} histories: no difference, {jobs} jobs, {perf_counter() - start:.0f} s", flush=True)
            if done >= options.most:
                return


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tests.engines.spark", description="replay random histories on Spark")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--small", type=int, default=0, help="rows up to which a set stays with the driver")
    parser.add_argument("--batch", type=int, default=30, help="histories united in one")
    parser.add_argument("--most", type=int, default=1 << 30, help="histories after which to stop; united ones first")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--in-process", action="store_true")
    main(parser.parse_args())
