"""Repairs: which explicit facts to remove so that a fact no longer follows.

`support` collects all rule instances that proofs of the fact may use, and finds removals that undo negation and
aggregates. `search` finds the lightest sets of explicit facts that break every proof. `proposals` is the user's view.
"""
