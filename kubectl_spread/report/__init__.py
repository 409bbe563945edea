"""Results as text and JSON, one module or package for each command."""
