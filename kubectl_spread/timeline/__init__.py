"""What controllers and the scheduler make of a cluster over time."""
