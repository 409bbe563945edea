"""Survey of a repository: its manifests, charts, kustomizations, and what it says about its clusters."""
