"""Constraints outside the kinds whose pods are known."""
