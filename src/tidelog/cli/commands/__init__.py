"""One file per command, with `configure` and `run`."""
