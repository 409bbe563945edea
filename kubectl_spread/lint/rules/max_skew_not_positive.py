"""`maxSkew` is missing, zero or negative.

The API server refuses the object: a domain could then hold no pod more than the smallest, which no first pod can
satisfy. The field has no default.

Write 1, the evenest, or more.
"""
