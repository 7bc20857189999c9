"""A knowledge base on disk: a directory that stays consistent after crashes and power failures.

    catalog.sqlite    versions, rules, small changes, the list of live files: one SQLite transaction is one commit
    runs/             facts as immutable Parquet files, written and synced before a commit names them
    dictionary/       terms, append only, as Parquet files
    cache/            the same data in a memory-mapped file; may be deleted at any time
    lock, pins/       locks of the writer and of readers' file generations; they end with their process
    acknowledged      the last version that was reported to a caller; shows that the end of the log is damaged

    durable_files      write, sync, rename, read and check files; the locks of the writer and of readers
    catalog            the SQLite database: rows with checksums, in a chain
    connections        connections to it, each used by one thread at a time
    records            the content of the rows
    delta              the net change of a version
    runs               facts and terms <-> Parquet
    cache              facts and dictionary <-> one mapped file
    digest             one number for a set of facts, independent of their order
    store              opens, reads and commits
    backup             copies a knowledge base that is in use
    compaction         merges small changes into files, deletes old versions
    verification       checks all files

No module here derives facts.
"""
