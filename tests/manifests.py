"""Manifests that several tests begin with."""

from __future__ import annotations

# SKEW stands for a number; with 1 there is nothing to find in it.
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  topologySpreadConstraints:
  - maxSkew: SKEW
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: web}}
"""
