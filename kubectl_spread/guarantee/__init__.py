"""Proofs that spread constraints keep a policy, or events that break it.

Scores are not relied on: a pod may go to any node that passes the scheduler's filters.
"""
