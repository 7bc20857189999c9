"""Why facts hold, do not hold, went, or stayed: proofs found on demand, by searching backwards through the rules.

Nothing is recorded while rules run. `heights` finds how high the lowest proof of a fact is, set at a time; `shortest`
makes that proof, `every` all others; `absence` looks for the atom at which each rule fails; `loss` compares two
versions; `bulk` lists rule instances of any number of facts as one table. `checking` believes none of it.
"""
