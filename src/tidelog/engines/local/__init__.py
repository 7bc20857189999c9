"""The local engine: the kernel in the user's process.

    relations   which tables there are, and numbers for them
    fact_set    facts as tables of term ids, triples split by predicate; small sets as one array
    pattern     one atom of a body: constants as ids, and the tables it reads
    plan        which atom next
    solve       all matches of a body, in blocks
    compute     conditions and assignments over columns of ids
    kinds       whether ids stand for literals, a column at a time
    heads       from matches to facts: several heads, aggregates
    static      parts of a body that do not change, joined once
    families    rules that differ only in constants, run as one
    atoms       which of many atoms the facts of a small set match
    one_atom    rules with one body atom, all at once where facts are few
    supports    some matches of each fact, a window at a time
    tally       facts with the number of their matches
    engine      the verbs, rules side by side on all cores

Read `pattern`, `solve` and `heads` first; `plan`, `static`, `families`, `atoms` and `one_atom` only make them quick.
"""
