"""`owl:sameAs` by rewriting: one term stands for each clique of equal terms, while equalities come and go."""
