"""Questions that several rules ask of a workload."""
