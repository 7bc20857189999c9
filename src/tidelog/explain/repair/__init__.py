"""Repairs: which explicit facts to remove so that a fact no longer follows.

`support` gathers all rule instances that a fact can rest on, `search` finds the smallest sets of explicit facts that
break every proof, `nonmonotone_causes` is about rules with negation and aggregates, `proposals` is what users see.
"""
