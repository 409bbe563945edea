"""Plans of evictions after which violated constraints hold again; loads numpy."""
