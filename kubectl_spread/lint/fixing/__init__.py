"""Fixes of findings, made in the text and verified."""
