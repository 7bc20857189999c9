"""What durability costs: loading to disk, opening, one-fact commits in a row, readers beside them, compaction.

measure      the sizes; each runs in a process of its own, as those of `bench.maintenance` do
reader       a process that opens the knowledge base, asks, and reads on while another writes
report       the page from the results
"""
