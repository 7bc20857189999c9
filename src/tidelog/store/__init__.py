"""A knowledge base on disk: a directory that survives anything.

    catalog.sqlite    versions, rules, small changes, the list of live files: one SQLite transaction is one commit
    runs/             facts as immutable Parquet files, written and synced before a commit names them
    dictionary/       terms, append only, as Parquet files
    cache/            the same in a form that is memory-mapped; may be deleted at any time
    lock, pins/       who writes, and which generation of files readers hold; the locks die with their process
    acknowledged      the last version a caller was told of, so that a damaged end of the log is noticed

    files       write, sync, name, read and check files
    locks       one writer, pinned readers
    catalog     the SQLite database: rows that carry their own checksums, in a chain
    records     what the rows say
    delta       the net change of a version: undo it, join it with the next
    runs        facts <-> Parquet
    terms       dictionary <-> Parquet
    cache       facts and dictionary <-> one mapped file
    digest      one number for a set of facts, whatever their order
    store       all of it together

Nothing here reasons.
"""
