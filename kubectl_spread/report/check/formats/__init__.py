"""Formats of a check's result for programs."""
