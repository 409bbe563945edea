"""A mapping has a key twice.

Most parsers keep the last of the two without a word, so one of the values is not what the object says. kubectl and the
API server's strict decoding refuse it.

Remove one of the two.
"""
