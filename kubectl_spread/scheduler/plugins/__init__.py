"""The default plugins."""
