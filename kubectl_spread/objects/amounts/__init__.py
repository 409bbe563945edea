"""Quantities, and the resources that pods request."""
