"""Rollouts of workloads, simulated over time: whether each completes."""
