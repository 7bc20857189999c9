"""Maintenance: the same changes by every algorithm, side by side on one open knowledge base, with the papers' counters.

subject      an open knowledge base, and one change of it by one algorithm
contest      a change by every algorithm: repeated, compared, within limits
table2       removing growing parts of the data, adding them back, single facts, rules
cliques      the bad case
group        which sizes there are, each in a process of its own (`worker`)
report       from `findings` (sentences), `tables` and `plot`; `paper` has the published counters, `equilibrium` says
             where two curves meet
"""
