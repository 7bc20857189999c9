"""The local engine: the kernel in the user's process.

    facts           facts as tables of term ids, triples split by predicate; small sets as one array
    plan            one body atom with constants as ids, and the choice of the next atom
    solve           all matches of a body, in blocks
    expressions     conditions and assignments over columns of ids
    fact_builder    from matches to facts: several heads, aggregates
    tally           facts with the number of their matches
    supports        some matches of each fact, a window at a time, rule by rule
    join_cache      joins of atoms that do not change, computed once
    rule_grouping   rules that differ only in constants, run as one
    small           the fast path for changes of few facts
    engine          the verbs, rules in parallel on all cores

Read `plan`, `solve` and `fact_builder` first. `join_cache`, `rule_grouping` and `small` only make the engine faster.
"""
