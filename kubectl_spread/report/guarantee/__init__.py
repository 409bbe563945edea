"""Verdicts of `guarantee`, for people and for programs."""
