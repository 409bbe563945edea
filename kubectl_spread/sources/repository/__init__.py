"""Survey of a repository: its manifests, charts, kustomizations, and facts about its clusters."""
