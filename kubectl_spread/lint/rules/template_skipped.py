"""A template was not checked.

A template (of a Helm chart, or of Jinja, ERB or Terraform) is not YAML until it is rendered, so the file was not
checked. Only a template that names `topologySpreadConstraints` is reported; the summary of the run counts all
templates, in one line.

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
