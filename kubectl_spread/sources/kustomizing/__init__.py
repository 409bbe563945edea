"""Kustomizations, their output, and the origin of each object in it."""
