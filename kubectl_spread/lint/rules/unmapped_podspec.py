"""An object of an unknown kind has constraints, and only a part of the checks was made.

Operators, GitOps tools and charts hold constraints in kinds of their own. It is not known where such a kind has its
pods' labels, its replicas and the rest of the pod spec. The constraints get every check that needs no pod: values that
the API server refuses (SPR101 to SPR108, SPR110 to SPR112, SPR114), keys that no node has (SPR216, SPR302), deprecated
keys (SPR602), and hard constraints that count tainted nodes (SPR301, as info). This finding says once for each file
that the rest, such as selectors that match no pod, was not checked.

Example:
    apiVersion: example.com/v1
    kind: Database
    metadata: {name: ledger}
    spec:
      instances: 3
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {db: ledger}}

Name the path of the pods in the config (`podspecPaths`), or check what comes of the object, where it runs:
`kubectl get statefulsets -o yaml | kubectl spread check -`.
"""
