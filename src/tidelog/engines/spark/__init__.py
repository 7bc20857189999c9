"""Facts in shards, on Spark: each task runs the local engine on one shard; only new facts and bindings are shuffled.

    cluster/      the Spark session; jobs of stages whose tasks send messages, on Spark or in this process
    sharded/      the algebra over facts in shards
        shard_files         packed rows in files and messages; the shard of a row
        worker_dictionary   the dictionary in the processes that run tasks
        nodes               sets and tallies as expressions over files, on the driver
        set_expressions     the same expressions as tasks read them
        plan                the steps in which shards join the body of a rule
        worker_cache        evaluates expressions for a shard; what a process keeps between tasks
        tasks               the functions that run at a shard
        driver              runs jobs and reads their results
        facts, engine       the algebra
    ingest/       from files and DataFrames to encoded, sorted shards
    dataframes/   knowledge bases as DataFrames; export by executors

Read `shard_files`, `nodes`, `plan` and `tasks` first.
"""
