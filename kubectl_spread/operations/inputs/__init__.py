"""Inputs of the operations: cluster facts, texts, and the choice of rules and workloads."""
