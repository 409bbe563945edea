"""Search of the reachable states."""
