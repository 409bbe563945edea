"""A key is in both `matchLabelKeys` and `labelSelector`.

Up to 1.33 the API server refuses the object. From 1.34 on it accepts a Deployment, and refuses every pod that its
ReplicaSet then creates: there is no pod, so no event of one; only the ReplicaSet's `FailedCreate` tells.

Remove the key from `matchLabelKeys`: the selector already has it.
"""
