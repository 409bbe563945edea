"""Snapshots of a cluster, as objects and as arrays."""
