"""Requirements a node must meet for a pod."""
