"""Edits of objects: the patch, its target, and the pods that follow from it."""
