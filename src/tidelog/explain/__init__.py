"""Why facts hold, do not hold, were removed, or were kept. Proofs are found on demand, by a search backwards.

Nothing is recorded while rules run. `proof_search` finds a proof of least height, or all proofs. `why_not` looks for
the atom at which each rule fails. `why_results` compares two versions. `bulk` lists the rule instances of any number of
facts as one table. `render` prints proofs. `repair` proposes facts to remove.
"""
