"""Readers of all input. No other package reads files."""
