"""The oracle: facts in Python sets, rules run by nested loops. Slow, short and easy to believe."""
