"""What the API server would refuse, with fixes and hints."""
