"""Where Spark looks for data sources that are installed: a top-level module `pyspark_*` with a `DefaultSource`."""

from tidelog.engines.spark.dataframes.datasource import TidelogDataSource as DefaultSource

__all__ = ["DefaultSource"]
