"""`minDomains` without DoNotSchedule.

With fewer domains than `minDomains` the smallest counts as empty, so that pods wait for more domains; a preference
waits for nothing, and the API server refuses the pair.

Remove `minDomains`, or use `whenUnsatisfiable: DoNotSchedule`.
"""
