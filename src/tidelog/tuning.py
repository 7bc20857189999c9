"""The constants that decide how fast tidelog is. The results do not depend on them.

Each line has the value, its unit, what it means and, in brackets, the workload of `bench/tuning.py` that
checks the value. Modules read a constant when they use it, so a test or a benchmark can replace the value here.
"""

from __future__ import annotations

# Kernel: sorted arrays
SORTED_KEYS = 512  # keys: with more keys, sorting them before a search pays [changes]
COMPARED_KEYS = 16_384  # keys: with more keys, a sample shows whether they are mostly the rows themselves [closure]
STRETCH_KEYS = 32  # keys of one stretch of that sample [closure]
SAMPLED_STRETCHES = 64  # stretches in that sample [closure]
PREFIX_STRETCH = 64  # words with the same leading bits up to which an index of these bits is used [lookups]
UNSORTED_LOOKUPS = 512  # lookups: fewer are not sorted first [lookups]
UNINDEXED_LOOKUPS = 192  # lookups: for fewer at once, a search is faster than an index [lookups]
INDEXED_ROWS = 16_384  # rows: in fewer rows, a search stays in the processor's cache [lookups]
ROWS_PER_LOOKUP = 32  # rows per lookup so far at which an index has paid for itself [lookups]
SAMPLED_ROWS = 4096  # rows in the sample that estimates the number of distinct values [materialise]
DIRECT_LOOKUPS = 4096  # lookups at once from which an index of the leading column pays [materialise]
FLAT_ROWS = 4096  # rows up to which a scan is fast, and a second copy of the rows is kept [changes]
UNCHECKED_BYTES = 4 << 20  # bytes: smaller allocations are not compared with the memory budget [materialise]
CHECKSUM_BYTES = 1 << 22  # bytes of a file that are read at once to check its sum [commit]

# Dictionary: terms and ids
TERM_CHUNK_BYTES = 1 << 26  # bytes of one chunk of terms at most [encode]
RECENT_TERMS = 1024  # terms in a Python list before they become a chunk [changes]
HASHED_TERMS = 16384  # terms hashed at once; their arrays fit into the processor's cache [encode]
HASH_LOAD = 0.65  # share of the hash table that is filled at most [encode]
HASH_GROWTH = 1.6  # times its size to which a full hash table grows [encode]
REMEMBERED_TERMS = 4096  # terms encoded one by one that stay cached [changes]
SINGLY_HASHED = 64  # terms up to which inserting one by one is faster [changes]

# Local engine: fact sets
MOST_CODED = 200_000  # facts that one array of coded rows holds at most [changes]
ALWAYS_COPIED = 2_048  # facts up to which a set is copied with a change [changes]
COPIED_IF_UNREAD = 32_768  # facts up to which a set that has no tables yet is copied with a change [changes]
SMALL_CHANGE_RATIO = 4  # times: a change is recorded beside the tables if the set is larger by this [closure]
MOST_CORRECTIONS = 256  # recorded facts after which they are applied to the tables [changes]
MOST_FIRST_CORRECTIONS = 16_384  # the same for the first change to a set, which may be its only one [changes]
DECODED_FACTS = 16_384  # facts decoded at once [export]

# Local engine: rules
PLAN_SAMPLE = 256  # bindings in the sample that chooses the next atom [materialise]
SMALL_START = 32  # rows: a join that starts with fewer rows keeps its first atom [materialise]
LARGE_SECOND_STEP = 50_000  # rows of a second step from which a better first atom is looked for [materialise]
SHARED_STEP = 0.7  # share of rows left below which two atoms are matched in one step [materialise]
PROJECTED_ROWS = 4096  # rows from which removing equal bindings between two steps pays [materialise]
THREADED_FACTS = 50_000  # facts that a batch of rules reads at least to run on threads [materialise]
RELEASED_FACTS = 500_000  # facts of a change after which unused memory is given back to the system [materialise]
ANSWER_ROWS = 1 << 20  # rows of an answer that are collected before equal rows are dropped [sparql]
CLAIMED_BYTES = 8 << 20  # new bytes between two checks of the memory budget [materialise]
AGGREGATED_ROWS = 65_536  # rows decoded at once for an aggregate [values]
COMPACTED_ROWS = 1 << 20  # new rows of a relation before equal rows are dropped [closure]
GROUPED_FACTS = 20_000  # facts in the smallest source up to which equal-shaped rules run as one [ontology]
JOIN_GROWTH = 4  # times the rows of its tables that a kept join has at most [ontology]
KIND_TERMS = 65_536  # terms decoded at once to find their kinds [values]
COMPUTED_INPUTS = 8_192  # distinct inputs of an expression that are decoded at once [values]
PASSED_MATCHES = 16  # matches per binding up to which an atom is matched before the others [removal]

# Local engine: small changes
PREPARED_RULE_SETS = 64  # sets of rules that stay prepared [changes]
SMALL_FORWARD_FACTS = 50_000  # new facts up to which the fast path runs the rules forwards [removal]
BACKWARD_GUARDS = 500_000  # pairs of a fact and a rule that are searched backwards at once [removal]
UNFILTERED_GUARDS = 256  # pairs up to which testing all rules is faster than finding the useful ones [changes]
SHAPED_RULES = 100_000  # rules of one program for which the fast path is prepared at most [ontology]
SMALL_JOIN_BINDINGS = 1 << 18  # bindings of one join of the fast path at most [removal]

# Algorithms
SINGLE_DERIVATION_FACTS = 2_000  # overdeleted facts up to which one derivation of each is looked for first [dred]
FALLBACK_RATIO = 2  # overdeleted facts per lost fact at which DRed gives way to Backward/Forward [removal]
CANDIDATE_LIMITS = (4, 32, 512)  # candidates tried for one fact and rule in each round, up to [removal]
ATTEMPT_SECONDS = 0.01  # seconds of the first attempt of `auto` for a layer [changes]
ATTEMPT_SECONDS_PER_FACT = 30e-6  # seconds that are added for each lost fact [removal]
UNSTOPPED_DERIVATIONS = 2_000  # derivations of an attempt before it is stopped at all [changes]
LAST_ATTEMPT_SHARE = 16  # 1/share of starting again: attempts of each algorithm where starting again won [removal]
AGAIN_SECONDS = 1e-3  # seconds: starting again takes at least this [changes]
AGAIN_SECONDS_PER_FACT = 0.2e-6  # seconds of starting again per fact, if it was never measured [removal]
REMATERIALISE_SHARE = 0.05  # share of the explicit facts from which `auto` starts again [removal]
REMATERIALISE_RELATED_SHARE = 0.15  # the same where DRed is tried first [removal]
FEW_REMOVED = 1000  # removed facts up to which `auto` never starts again [removal]
PREDICTED_SAMPLE = 64  # facts in the sample of a prediction [predict]
PREDICTED_LEVELS = 100  # levels that a prediction follows at most [predict]
PREDICTION_BYTES = 64_000_000  # bytes of files that are read for a prediction and again for the preview [predict]

# Spark: when it is used
MEMORY_PER_INPUT = 1.0  # bytes of memory per byte of input; past the budget `auto` uses Spark [spark]

# Store
CATALOG_ROWS = 20_000  # rows and terms of a change that is stored in the catalog, without files [commit]
COMPACTED_COMMITS = 64  # small commits before they are merged into files [commit]
REBASED_SHARE = 8  # 1/share of the base that deltas may reach before they are merged into a new base [commit]
ROW_GROUP = 1 << 20  # rows of one group of a Parquet file [commit]
SINGLY_ADDED_TERMS = 1000  # terms of a version up to which they are added one by one [commit]
DIGEST_ROWS = 1 << 18  # rows hashed at once; their arrays stay in the processor's cache [commit]
SINGLY_DIGESTED = 16  # rows up to which hashing one by one is faster [commit]
FILE_BLOCK_BYTES = 1 << 22  # bytes that are read or written at once [commit]

# Queries
QUERY_BLOCK_BYTES = 8 << 20  # bytes of a block of a query with limits, so that it stops soon [sparql]
ANSWER_BLOCK_ROWS = 65_536  # rows of an answer that are decoded at once [export]
FIRST_ROWS_BYTES = 1 << 20  # bytes of a block if the query asks for a few rows only [sparql]
SOLUTION_BLOCK_ROWS = 65_536  # solutions decoded at once [sparql]
SINGLY_DECODED_ROWS = 64  # solutions up to which decoding one by one is faster [sparql]
SINGLY_UPDATED_FACTS = 64  # facts of an update up to which handling one by one is faster [sparql]
PAIRED_ROWS = 1 << 20  # pairs of solutions that a join makes at a time [sparql]
SINGLY_ENCODED_TERMS = 64  # terms up to which encoding and decoding one by one is faster [sparql]
STRINGS_TOGETHER = 500  # strings from which a function tests them together [sparql]
EXPRESSION_INPUTS = 65_536  # distinct inputs of an expression that are evaluated at a time [sparql]
LOOKUP_BINDINGS = 2048  # bindings up to which a pattern is answered by lookups [sparql]
MATCHED_ALONE = 4096  # bindings from which a small pattern is matched alone and then joined [sparql]
SMALL_PATTERN_RATIO = 16  # times fewer triples than bindings that a small pattern has [sparql]

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
CLEANUP_INTERVAL = 20  # times the duration of a garbage collection before a worker runs the next one [spark]

# Spark: DataFrames, export and commit
PARTITION_ROWS = 250_000  # rows of one partition of a DataFrame [spark]
OPEN_VERSIONS = 2  # versions that one process holds open [spark]
DATAFRAME_BLOCK_ROWS = 1 << 15  # rows of one record batch of a DataFrame [spark]
EXPORT_TASKS_PER_CORE = 4  # tasks per core of an export, so that slow tasks even out [spark]
EXPORT_PART_ROWS = 1_000_000  # rows of one exported part at most [spark]
EXPORT_ONE_TASK_ROWS = 100_000  # rows that one task writes as quickly as several tasks [spark]
GATHERED_FACTS = 2_000_000  # facts of a change up to which the driver writes the new version itself [spark]
