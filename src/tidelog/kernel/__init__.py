"""Packed sorted columns of term ids: the only place where facts are joined.

    rows        sort, search and compare packed rows (arrays in, arrays out)
    array_file  the container for arrays in files and messages
    run         one immutable sorted set of rows, in each column order that was requested
    table       a relation: a few runs, and tombstones for deleted rows
    lookup      small sets of rows of several relations as one array; lookups of few rows in a relation with corrections
    counts      rows that occur several times: a few runs with a weight for each row
    join        match one atom: extend bindings (partial matches) by the rows of a table
    budget      count bytes before they are allocated

The kernel does not know rules, terms or facts.
"""
