"""LUBM's 14 queries on the closure of university data, on tidelog and on pyoxigraph's store, in one run."""
