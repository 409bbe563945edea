"""A moment of a cluster."""
