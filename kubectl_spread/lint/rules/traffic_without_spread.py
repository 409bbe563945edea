"""A Service keeps traffic in the zone, but its pods are not spread over zones.

## What it does

Reports a Service with `trafficDistribution: PreferClose` or `PreferSameZone`, or with the annotation
`service.kubernetes.io/topology-mode: Auto`, whose pods in the input have no constraint or required anti-affinity over
zones. This rule is an opinion, and off by default.

## Why it matters

Traffic from a zone goes to the endpoints in that zone. A zone without endpoints sends all its traffic elsewhere, and a
few pods may have to serve a whole zone. The annotation has no effect while zones are too uneven.

## Example

    apiVersion: v1
    kind: Service
    metadata: {name: web}
    spec:
      trafficDistribution: PreferClose
      selector: {app: web}
      ports: [{port: 80}]
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - {name: web, image: registry.example/web:1.25}

## Use instead

Add a constraint over `topology.kubernetes.io/zone` to the pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.lint.finding import Label, Place, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.pod_requirements import REQUIRED
from kubectl_spread.lint.wording import workload_name
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.objects.reading.plain import fields, mappings
from kubectl_spread.objects.selectors.labels import ZONE
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import SCALED_KINDS
from kubectl_spread.text.node import Route

_ZONES = (ZONE, "failure-domain.beta.kubernetes.io/zone")
_ANNOTATIONS = ("service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints")


def check(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find Services with pods that nothing in their manifest spreads over zones; once a Service."""
    route = _by_zone(manifest)
    if route is None:
        return
    for subject in project.backends(manifest):
        if subject.workload.kind not in SCALED_KINDS or _is_spread(subject):
            continue
        if project.replicas(subject).likely in (0, 1):
            continue
        yield RuleFinding(
            f"a zone may have no endpoint: the Service keeps traffic in its zone, and nothing spreads the pods of "
            f"{workload_name(subject.workload)} over zones",
            Place(manifest.document.source, manifest.place(route)),
            path_text(route),
            f"add a constraint over {ZONE} to the pods",
            (Label(subject.place(("metadata", "name")), "the Service selects its pods"),),
        )
        return


def _by_zone(manifest: Manifest) -> Optional[Route]:
    """Return the route of the field or annotation that keeps traffic in the zone."""
    if fields(manifest.plain.get("spec")).get("trafficDistribution") in ("PreferClose", "PreferSameZone"):
        return ("spec", "trafficDistribution")
    annotations = fields(fields(manifest.plain.get("metadata")).get("annotations"))
    for name in _ANNOTATIONS:
        if annotations.get(name) in ("Auto", "auto"):
            return ("metadata", "annotations", name)
    return None


def _is_spread(subject: Subject) -> bool:
    """Return whether a constraint, or required anti-affinity, is about zones."""
    if any(constraint.topology_key in _ZONES for constraint in subject.constraints):
        return True
    anti_affinity = (subject.spec.get("affinity") or {}).get("podAntiAffinity") or {}
    required = mappings(anti_affinity.get(REQUIRED))
    return any(term.get("topologyKey") in _ZONES for term in required)
