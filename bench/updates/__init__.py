"""The six updates with which DynamiTE was evaluated, by several algorithms, with the published times beside ours.

changes      what each update removes and adds
measure      the sizes; each runs in a process of its own, as those of `bench.maintenance` do
report       the page from the results; `paper` has the published times
"""
