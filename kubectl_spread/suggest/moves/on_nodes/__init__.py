"""Changes of nodes: their labels, taints, kinds and number."""
