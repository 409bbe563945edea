"""Requirements a node must meet for a pod, one module per subject."""
