"""One paper per file, written against the algebra."""
