"""The smallest package; read it first. Fact sets, extended atoms `B[S]`, the three verbs, and the fixpoint loop."""
