"""A suppression suppresses nothing.

The fault it was written for is gone, or it names no rule, or a rule that does not exist. It would hide the next finding
of that rule at this place.

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
          - maxSkew: 1  # spread: ignore[SPR304] our zones are alike
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Remove the comment, the annotation's entry or the config's, or name the rule in brackets:
`# spread: ignore[SPR304] the reason`.
"""
