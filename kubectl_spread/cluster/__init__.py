"""One moment of a cluster."""
