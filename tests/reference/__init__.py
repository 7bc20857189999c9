"""What the tests compare with: an engine on Python sets, a check of proofs, and selection by hand."""
