"""The parser of rules: tokens, terms, clauses, whole programs."""
