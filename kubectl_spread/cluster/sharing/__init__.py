"""Snapshots for other people: pruned and redacted."""
