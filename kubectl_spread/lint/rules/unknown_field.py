"""A constraint has a field that does not exist.

kubectl's strict validation refuses it. Helm and most controllers do not ask for strict validation: the API server drops
the field, with a warning from 1.27 on, which nobody may see, and in silence before. Case counts: `NodeTaintsPolicy` is
no field. What the field would have said is checked as if it were spelt right, so that a `MaxSkew` is not reported as a
missing `maxSkew`, too.

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
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            NodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Write the field as the hint has it.
"""
