"""Text to rules: tokens, terms, clauses, whole programs."""
