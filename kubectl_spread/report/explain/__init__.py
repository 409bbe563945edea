"""Explanations of pods as text, JSON and HTML."""
