"""An object of an unknown kind has constraints, and they were not checked.

Operators, templates and policies hold constraints in kinds of their own. Where such a kind has its pods' labels, its
replicas and the spec that the list belongs to is not known here, so that nothing can be said of it, and one line an
object says so: an object that is skipped in silence looks like one without faults. Definitions of kinds, which hold the
schema of the list, are no such objects.

Example:
    apiVersion: example.com/v1
    kind: Database
    metadata: {name: ledger}
    spec:
      instances: 3
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {db: ledger}}

Check what the operator makes of it, where it runs: `kubectl get statefulsets -o yaml | kubectl spread check -`.
"""
