"""Running workloads: their status, their queue, and their next rollout."""
