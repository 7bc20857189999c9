"""Benchmarks: the same rules over the same data on tidelog and on its peers, in one run, compared fact for fact.

    python -m bench                     every workload; writes results/full.json, .md, .png and docs/benchmarks.md
    python -m bench --quick             the smaller ones, in about two minutes
    python -m bench lubm-10 el-20000    some of them
    python -m bench report              docs/benchmarks.md again, from results/full.json

Each measurement is a process of its own (`bench.worker`) under a time and a memory limit, one at a time.
"""
