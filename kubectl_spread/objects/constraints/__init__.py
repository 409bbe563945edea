"""Topology spread constraints: as written, where they are found, and their counts."""
