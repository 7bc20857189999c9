"""The pipeline on Spark: from files to a committed knowledge base, stage by stage; the closure against its peers.

measure      the sizes, and the page from the results
worker       one measurement in a process of its own
frames       the peer: semi-naive evaluation over DataFrames, as one would write it by hand
"""
