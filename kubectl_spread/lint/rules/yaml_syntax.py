"""A document is not YAML.

kubectl and the API server stop at it too. The other documents of the file are checked all the same. As nothing is known
of what the document says, the exit code is 3.

Mend what the parser names; the place is where it gave up, the cause is often a line before.
"""
