"""`topologyKey` is missing or empty.

It names the node label whose values are the domains; without it there is nothing to spread over, and the API server
refuses the object.

Name a label, such as `topology.kubernetes.io/zone` or `kubernetes.io/hostname`.
"""
