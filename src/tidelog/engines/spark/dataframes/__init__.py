"""Knowledge bases as Spark DataFrames: the data source `tidelog`, DataFrames of relations, export by executors.

tidelog imports these modules only when a Spark session exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "tidelog"  # of the data source


def register(spark: SparkSession) -> None:
    """Register `spark.read.format("tidelog")` in a session; see docs/spark-data.md.

    Spark finds the data source itself if tidelog is installed on the driver, but not in a session that was started
    before, or that has tidelog from `--py-files`.
    """
    from tidelog.engines.spark.dataframes.datasource import TidelogDataSource

    spark.dataSource.register(TidelogDataSource)
