"""Packed sorted columns of term ids: the only place where facts are joined.

    rows        sort, search and compare packed rows (arrays in, arrays out)
    array_file  the container for arrays in files and messages
    run         one immutable sorted set of rows, in every order that was asked for
    table       a relation: a few runs and what was removed from them
    mixed       rows of several relations as one array, for small sets
    lookup      few rows looked up in a relation that was changed a little
    counts      rows that occur several times: a few runs with a weight for each row
    bindings    partial matches: one column of ids per variable
    join        match one atom: extend bindings by the rows of a table
    budget      count bytes before they are allocated

Nothing here knows rules, terms or facts.
"""
