"""Proofs that spread constraints keep a policy, or events that break it.

Scores are ignored: a pod may go to any node that passes the scheduler's filters.
"""
