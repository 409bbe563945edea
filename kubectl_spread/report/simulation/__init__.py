"""Answers of `simulate`: as text, as JSON, and as a story."""
