"""Results as text and JSON, one package for each command."""
