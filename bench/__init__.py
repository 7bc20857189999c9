"""Benchmarks: the same rules over the same data on tidelog and on its peers, in one run, compared fact for fact.

    python -m bench                     everything; writes results/*.json, .md, .png and the tables in docs/
    python -m bench --quick             the smaller sizes, in a few minutes
    python -m bench peers               only the comparison with other reasoners
    python -m bench lubm-10 el-20000    some workloads
    python -m bench maintenance         changes, by every algorithm side by side; also with --quick
    python -m bench table2-10           some workloads of `maintenance`
    python -m bench updates             DynamiTE's six updates; also updates-10, updates-100
    python -m bench owl                 OWL 2 RL on tidelog, owlrl and reasonable; also owl-1, owl-10
    python -m bench store               a knowledge base on disk: open, commit, read meanwhile; also store-10, store-100
    python -m bench sparql              LUBM's queries on tidelog and pyoxigraph; also sparql-10, sparql-100
    python -m bench equality            owl:sameAs by rewriting, and by axioms
    python -m bench explain             proofs of 10,000 derived facts of LUBM-10, each checked
    python -m bench tuning              each constant of tidelog.tuning with other values; also MOST_CODED
    python -m bench report              writes the pages in docs/ again, from results/

Each measurement of an engine runs in its own process (`bench.worker`) with a time limit and a memory limit. Processes
run one at a time. Each size of `maintenance` runs in one process, with a time limit for each change.
"""
