"""`labelSelector` does not parse.

An operator that does not exist, values where none may be or none where some must, or a key or value with characters
that labels do not have. The API server refuses it from 1.27 on; before, the pod was accepted and never scheduled.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchExpressions: [{key: app, operator: in, values: [web]}]}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

The operators are In and NotIn, with values, and Exists and DoesNotExist, without.
"""
