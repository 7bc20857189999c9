"""The data pipeline on Spark: files and DataFrames to encoded, sorted shards."""
