"""Engines carry out the algebra: `reference` on Python sets (the oracle), `local` on packed columns in this process."""
