"""Placement policies: rules about pods and domains, and their evaluation on counts of pods."""
