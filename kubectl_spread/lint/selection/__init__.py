"""Which rules run, and which findings are shown."""
