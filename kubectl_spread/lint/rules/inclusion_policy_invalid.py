"""A node inclusion policy is neither Honor nor Ignore.

`nodeAffinityPolicy` and `nodeTaintsPolicy` decide which nodes count as domains; the API server refuses any other value,
and another case of letters is another value.

Write one of the two; without the field affinity is honoured and taints are ignored.
"""
