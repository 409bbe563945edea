"""Labels and label selectors."""
