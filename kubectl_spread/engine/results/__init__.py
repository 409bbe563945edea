"""Outcomes in terms of the cluster's objects."""
