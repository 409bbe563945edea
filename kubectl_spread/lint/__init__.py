"""Checks of manifests: the API server's rules, and rules about spreading."""
