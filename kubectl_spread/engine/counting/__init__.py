"""Search through the rollout of one Deployment by the number of its pods on each node."""
