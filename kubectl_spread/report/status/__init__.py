"""Running workloads against their constraints, as a table, JSON and metrics."""
