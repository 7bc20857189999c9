"""The constants that decide how fast tidelog is. The results do not depend on them.

Each line has the value, its unit, what it means and, in brackets, the workload of `bench/tuning.py` that
checks the value. Modules read a constant when they use it, so a test or a benchmark can replace the value here.
"""

from __future__ import annotations

# Spark: read files and give ids to terms
SPLIT_MOST_BYTES = 64 << 20  # bytes: a file is read in parts of at most this size; a task stays below 1 GB [spark]
SPLIT_FEWEST_BYTES = 1 << 20  # bytes: a smaller part costs more to start than to read [spark]
SPLITS_PER_CORE = 3  # parts per core, so that slow parts even out [spark]
CHUNK_ROWS = 1 << 20  # rows of one chunk of parsed facts, about [spark]
CHUNK_TERM_BYTES = 64 << 20  # bytes of the terms of one chunk, about [spark]
TERM_MESSAGE_BYTES = 8 << 20  # bytes of terms in one message between tasks [spark]
ID_TASK_BYTES = 512 << 20  # bytes of input for each task that gives ids to terms [spark]
NEW_TERMS_BYTES = 256 << 20  # bytes of new terms that the driver adds to the dictionary at once, about [spark]
ID_TASKS_PER_CORE = 4  # tasks per core that give ids if the size of the input is not known [spark]
ROUTE_ROWS = 1 << 20  # rows for each task that sends rows to their shards, about [spark]

# Spark: fact sets in shards
VALUE_SAMPLE_ROWS = 256  # rows in the sample that shows whether a column has few values [spark]
SCANS_BEFORE_SORT = 8  # scans: with more values to find, sorting the rows first is faster [spark]
MESSAGE_ROWS = 1 << 20  # rows in one message between tasks at most [spark]
FULL_RESULT_SHARDS = 8  # shards up to which each may return as many rows as the driver holds [spark]
DRIVER_FACTS = 100_000  # facts: the driver itself holds and joins sets up to this size [spark]
DRIVER_READ_RATIO = 10  # times DRIVER_FACTS that the driver reads at most for the rules of one call [spark]
PREPARED_RULES = 4_096  # plans of rules that the driver remembers [spark]
SKEW_SHARE = 8  # 1/share: a value in more than this share of the rows is too frequent to divide by [spark]
UNMERGED_SETS = 16  # sets that are added or removed one by one before they become one set of files [spark]
EXPRESSION_DEPTH = 48  # set operations in one expression before its result is written [spark]
TALLY_DEPTH = 16  # operations in one expression of counts before its result is written [spark]
WORKER_COPIED_ROWS = 2_048  # rows: smaller files are copied into one array in the worker [spark]
WORKER_ENGINES = 4  # engines that one worker process serves at a time [spark]
WORKER_PLANS = 10_000  # plans that a worker remembers [spark]
WORKER_RULE_SETS = 64  # sets of rules that a worker remembers [spark]
WORKER_HASHED_TERMS = 100_000  # terms: a worker hashes up to this many terms that are not in the shared index [spark]
CLEANUP_INTERVAL = 20  # times the duration of a search for unused files that passes before the next search [spark]

# Spark: DataFrames, export and commit
PARTITION_ROWS = 250_000  # rows of one partition of a DataFrame [spark]
OPEN_VERSIONS = 2  # versions that one process holds open [spark]
DATAFRAME_BLOCK_ROWS = 1 << 15  # rows of one record batch of a DataFrame [spark]
EXPORT_TASKS_PER_CORE = 4  # tasks per core of an export, so that slow tasks even out [spark]
EXPORT_PART_ROWS = 1_000_000  # rows of one exported part at most [spark]
EXPORT_ONE_TASK_ROWS = 100_000  # rows that one task writes as quickly as several tasks [spark]
GATHERED_FACTS = 2_000_000  # facts of a change up to which the driver writes the new version itself [spark]
