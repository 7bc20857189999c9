"""A change, from the request to the committed version."""
