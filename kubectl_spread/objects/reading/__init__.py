"""Plain values become objects, with the errors of the API server's decoder."""
