"""Simulation of a change, and judgement of its result."""
