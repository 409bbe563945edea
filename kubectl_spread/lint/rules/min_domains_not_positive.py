"""`minDomains` is zero or negative.

The API server refuses it. Leaving the field out means 1.

Remove it, or write 1 or more.
"""
