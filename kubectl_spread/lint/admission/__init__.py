"""Checks of the API server, with fixes and hints."""
