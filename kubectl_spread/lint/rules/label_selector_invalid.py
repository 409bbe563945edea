"""`labelSelector` does not parse.

An operator that does not exist, values where none may be or none where some must, or a key or value with characters
that labels do not have. The API server refuses it from 1.27 on; before, the pod was accepted and never scheduled.

The operators are In and NotIn, with values, and Exists and DoesNotExist, without.
"""
