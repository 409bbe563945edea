"""Reading of a live cluster through its API server. The cluster is never changed."""
