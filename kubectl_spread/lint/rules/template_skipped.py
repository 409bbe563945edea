"""A Go template was not checked.

A chart's template is no YAML until it is rendered, so nothing in the file was looked at. One line a file says so, as a
file that is skipped in silence looks like one without faults.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      {{- with .Values.replicas }}
      replicas: {{ . }}
      {{- end }}
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

Check what it renders to: `helm template shop charts/shop | kubectl spread check -`.
"""
