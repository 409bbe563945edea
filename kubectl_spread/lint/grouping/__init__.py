"""Objects that are applied together, and workloads that one selector matches."""
