"""Simulation of controllers and the scheduler over time."""
