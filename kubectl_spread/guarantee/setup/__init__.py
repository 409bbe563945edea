"""Groups of workloads as numbers, made from cluster facts."""
