"""`matchLabelKeys` without `labelSelector`.

The keys narrow the selector; where there is none, the API server refuses them.

Add a `labelSelector` with the labels of the workload's own pods.
"""
