"""Benchmarks: the same rules over the same data on tidelog and on its peers, in one run, compared fact for fact.

    python -m bench                     everything; writes results/*.json, .md, .png and the tables in docs/
    python -m bench --quick             the smaller sizes, in a few minutes
    python -m bench peers               only the comparison with other reasoners
    python -m bench lubm-10 el-20000    some workloads
    python -m bench maintenance         changes, by every algorithm side by side; also with --quick
    python -m bench table2-10           some of those
    python -m bench updates             DynamiTE's six updates; also updates-10, updates-100
    python -m bench owl                 OWL 2 RL on tidelog, owlrl and reasonable; also owl-1, owl-10
    python -m bench store               a knowledge base on disk: open, commit, read beside; also store-10, store-100
    python -m bench sparql              LUBM's queries on tidelog and pyoxigraph; also sparql-10, sparql-100
    python -m bench equality            owl:sameAs by rewriting, and by axioms
    python -m bench explain             proofs of 10,000 derived facts of LUBM-10, each checked
    python -m bench report              the pages in docs/ again, from results/

Each measurement of an engine is a process of its own (`bench.worker`) under a time and a memory limit, one at a time.
For maintenance it is each size (`bench.maintenance`), under a time limit for each change.
"""
