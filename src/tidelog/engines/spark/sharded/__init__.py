"""The algebra over facts in shards: sets, plans, and the tasks that run them."""
