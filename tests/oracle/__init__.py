"""Random programs and histories, and the oracles that say what follows from them."""
