"""The commands, grouped by topic. Each has a `configure_` and a `run_` function; see `tidelog.cli`."""
