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
    shapes      rules with more atoms that differ only in constants, ready to be joined from few facts
    small_joins     joins from few facts
    few         all rules at once where facts are few, forwards
    few_backward    the same backwards: supports, and proofs at first sight
    supports    some matches of each fact, a window at a time, rule by rule
    tally       facts with the number of their matches
    engine      the verbs, rules side by side on all cores

Read `pattern`, `solve` and `heads` first. `plan`, `static` and `families` only make them quick; `atoms`, `shapes`,
`small_joins`, `few` and `few_backward` take their place where facts are few.
"""
