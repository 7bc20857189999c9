"""Facts in shards, on Spark: the local engine's kernel runs at every shard, and only new facts and bindings travel."""
