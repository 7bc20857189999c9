"""Read this package first: fact sets, rules with sources `B[S]`, the verbs of an engine, and the fixpoint loop."""
