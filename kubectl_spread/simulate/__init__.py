"""Placement of pods, and its consequences."""
