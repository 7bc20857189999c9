"""Knowledge bases as Spark DataFrames: the data source `tidelog`, DataFrames of relations, export by executors.

Nothing here is imported before a session is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "tidelog"  # of the data source


def register(spark: SparkSession) -> None:
    """Make `spark.read.format("tidelog")` known to a session that does not find it by itself; see docs/spark-data.md.

    Spark finds it where tidelog is installed on the driver; a session that was started before, or one that has tidelog
    from `--py-files`, does not.
    """
    from tidelog.engines.spark.dataframes.datasource import TidelogDataSource

    spark.dataSource.register(TidelogDataSource)
