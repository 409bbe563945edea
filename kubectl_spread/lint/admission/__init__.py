"""Checks that the API server would make, with fixes and hints."""
