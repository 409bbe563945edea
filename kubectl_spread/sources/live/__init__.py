"""A live cluster, read through its API server: nothing is ever changed there."""
