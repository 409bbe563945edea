"""The only place that reads files."""
