"""A suppression has no reason.

Who reads `# spread: ignore[SPR304]` a year later cannot tell whether the fault is wanted, or whether it was in the way.
The reason is what follows the rules, in a comment and in an annotation.

This is an opinion, and off by default.

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
            topologyKey: kubernetes.io/zone  # spread: ignore[SPR302]
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Write it: `# spread: ignore[SPR302] our nodes have this label`.
"""
