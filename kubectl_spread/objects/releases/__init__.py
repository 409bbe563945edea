"""Kubernetes releases, and what changed between them."""
