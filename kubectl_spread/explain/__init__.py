"""Why a pod is Pending, as data."""
