"""Placing of pods, and its consequences."""
