"""Kubernetes objects, only the fields a scheduler or the API server's spread validation reads."""
