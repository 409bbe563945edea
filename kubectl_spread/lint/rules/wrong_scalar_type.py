"""A value has the wrong type, so the object cannot be decoded.

`"1"` is no number, and an unquoted `on`, `1.10` or `0644` is no text: kubectl reads YAML 1.1's words and octal numbers.
The API server refuses the whole object, so nothing else in it was checked, and the exit code is 3.

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
          - maxSkew: "1"
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Quote what is text, and do not quote numbers.
"""
