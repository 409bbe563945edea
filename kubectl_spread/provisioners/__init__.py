"""Nodes that do not exist yet: whether Karpenter adds one, where, and why not.

    reading.read(plains, cluster, table=..., options=...)      -> Provisioning     pools, claims, classes, types, gaps
    solve.solve(cluster, pods.pending(cluster), provisioning)  -> Solution         outcomes, answers, pools
    binding.bound(cluster, outcome, nodes)                     -> Binding          what kube-scheduler then does
    binding.provisioner(provisioning)                          -> Provisioner      one more controller of the engine

`plains` are NodePools, NodeClaims, node classes and Nodes as the API server has them; `cluster` has the pods, nodes,
DaemonSets and volumes. A fact that is missing is a `Gap`, never an exception. An object that cannot be read is a
`Problem`. A pod that does not exist yet is given to `solve` without being in the cluster.

A `Solution` has the set of `outcomes` of one round, because Karpenter draws at random; `nodes` is how many nodes they
create, at least and at most. Each `PodAnswer` says YES, NO, or DEPENDS with its gaps, the existing and the new nodes
that may take the pod, and one `Refusal` for each pool in Karpenter's order. `refusals.texts` has Karpenter's words for
a refusal; the `Counts` in it are what Karpenter counts in each domain. `PoolFinding` says why a pool gives no nodes.

`requirement` is the algebra, `topology` the groups that count, `machines` the places for pods, `round` one step of the
solver, `versions` what differs between releases of Karpenter. The cluster-autoscaler is not simulated; it would be a
module beside `round` that gives a `Solution`, too.
"""
