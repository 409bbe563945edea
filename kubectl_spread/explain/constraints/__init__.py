"""Topology spread constraints of a pod, with their counts."""
