"""Text stands beside a document separator.

kubectl takes every line that begins with `---` for a separator, and refuses the file there: `invalid Yaml document
separator`. Nothing below is applied. YAML itself would let a document begin on that line, so that other tools read the
file without a word. kubectl before 1.22 dropped the next object in silence. The object below is checked all the same.

A comment, `--- # web`, is no fault: only kubectl before 1.22 stumbles over it, and which kubectl will read the file is
not known here.

Example:
    --- web
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
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Remove the text, make it a comment, or put it on a line of its own.
"""
