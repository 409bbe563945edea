"""Nodes that do not exist yet: whether Karpenter adds one, where, and why not.

    reading.of_cluster(cluster)                    -> Provisioning         pools, claims, classes, types, gaps
    solve.solve(cluster, pods, provisioning)       -> Solution             the outcomes of one round, answers, pools
    prospect.added_nodes(cluster, pods, profiles)  -> Prospect by pod      what kube-scheduler then does, round by round
    prospect.outlook(prospects of equal pods)      -> Outlook              the one answer of all commands
    prospect.provisioner(provisioning)             -> Provisioner          one more controller of the engine

A fact that is missing is a `Gap`, never an exception. Karpenter draws at random, so a round has a set of outcomes. A
`Refusal` is why a pool gives a pod no node; `refusals.texts` has Karpenter's words for it. The cluster-autoscaler is
not simulated; it would be a module beside `round` that gives a `Solution`, too.
"""
