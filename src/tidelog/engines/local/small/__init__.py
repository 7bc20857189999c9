"""The fast path for changes of few facts: lookups of single rows instead of joins of columns."""
