"""The local engine: the kernel in the user's process.

    fact_set    facts as tables of term ids, triples split by predicate
    pattern     one atom of a body: constants as ids, and the tables it reads
    plan        which atom next
    solve       all matches of a body, in blocks
    compute     conditions and assignments over columns of ids
    kinds       whether ids stand for literals, a column at a time
    heads       from matches to facts: several heads, aggregates
    static      parts of a body that do not change, joined once
    families    rules that differ only in constants, run as one
    supports    some matches of each fact, a window at a time
    tally       facts with the number of their matches
    engine      the verbs, rules side by side on all cores

Read `pattern`, `solve` and `heads` first; `plan`, `static` and `families` only make them quick.
"""
