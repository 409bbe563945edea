"""A key is in both `matchLabelKeys` and `labelSelector`.

Up to 1.33 the API server refuses the object. From 1.34 on it accepts a Deployment, and refuses every pod that its
ReplicaSet then creates: there is no pod, so no event of one; only the ReplicaSet's `FailedCreate` tells.

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
            matchLabelKeys: [app]
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Remove the key from `matchLabelKeys`: the selector already has it.
"""
