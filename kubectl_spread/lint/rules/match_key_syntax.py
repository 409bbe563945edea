"""A `matchLabelKeys` entry is not a label key.

The API server refuses it. A key is a name of at most 63 characters, before which a DNS name and a slash may stand.

Write the key of a label, such as `pod-template-hash`.
"""
