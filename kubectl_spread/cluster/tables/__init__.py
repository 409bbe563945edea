"""Nodes and pods as arrays, for the scheduler."""
