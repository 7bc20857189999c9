"""The local engine: the kernel in the user's process.

fact_set    facts as tables of term ids, triples split by predicate
solve       all matches of a rule body: which atom next, in blocks
compute     conditions and assignments over columns of ids
heads       from matches to facts: several heads, aggregates
engine      the three verbs, rules side by side on all cores
loader      batches of parsed rows into tables
"""
