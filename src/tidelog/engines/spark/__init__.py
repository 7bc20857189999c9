"""Facts in shards, on Spark: the local engine's kernel runs at every shard, and only new facts and bindings travel.

    cluster     stages of tasks that send parcels: on Spark, or in this process
    session     the Spark session
    pieces      packed rows in files and parcels; where a row is at home
    terms       the dictionary where tasks run
    files       scratch files that go with what they belong to
    nodes       sets as expressions over files, on the driver
    counts      the same for tallies
    specs       the same as tasks are told of it
    reader      evaluates expressions for a shard
    lookup      few facts in a large expression, without a job
    plan        at which places the body of a rule is joined
    programs    plans kept, and what they need
    job         what the tasks of a job are told
    site        what a process keeps between tasks
    tasks       rules at a shard, and heads at home
    moves       sets written, or kept by another argument
    driver      jobs run, and sets that have to be in files first
    results     what comes back
    facts, tally, engine    the algebra

Read `pieces`, `nodes`, `plan` and `tasks` first.
"""
