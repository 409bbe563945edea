"""Source text with positions."""
