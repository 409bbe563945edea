"""`minDomains` without DoNotSchedule.

With fewer domains than `minDomains` the smallest counts as empty, so that pods wait for more domains; a preference
waits for nothing, and the API server refuses the pair.

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
            labelSelector: {matchLabels: {app: web}}
            minDomains: 3
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Remove `minDomains`, or use `whenUnsatisfiable: DoNotSchedule`.
"""
