"""Clusters, built from plain objects."""
