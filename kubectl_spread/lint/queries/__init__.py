"""Questions about a workload that several rules ask."""
