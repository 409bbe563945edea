"""A check's result in every output format."""
