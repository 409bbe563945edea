"""Workloads: their kinds, their manifests, and the pods that controllers make of them."""
