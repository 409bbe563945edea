"""A document is not YAML.

kubectl and the API server stop at it too. The other documents of the file are checked all the same. As nothing is known
of what the document says, the exit code is 3.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web
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
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Mend what the parser names; the place is where it gave up, the cause is often a line before.
"""
