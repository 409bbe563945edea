"""A field of a constraint is newer than the cluster.

An API server whose feature gate is off drops the field in silence; an older one does not know it, and refuses it under
strict decoding. Either way the constraint works without it. `minDomains` is known since 1.24 and on since 1.27,
`matchLabelKeys` since 1.25 and 1.27, `nodeAffinityPolicy` and `nodeTaintsPolicy` since 1.25 and 1.26. A value that is
the older behaviour anyway is not reported where it is dropped, nor anything where no `--kubernetes-version` is named.

Example, with --kubernetes-version 1.26:
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
            minDomains: 3
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Leave the field out for such clusters, or upgrade them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject
from kubectl_spread.objects.constraint import HONOR
from kubectl_spread.objects.constraint import IGNORE
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.history import KNOWN_SINCE
from kubectl_spread.objects.version import FIELD_SINCE


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find fields that the target's API server does not keep; each once a workload."""
    minor = project.target.minor
    if minor is None or minor >= max(FIELD_SINCE.values()):
        return
    for name, since in FIELD_SINCE.items():
        places = [
            subject.route(constraint, name)
            for constraint in subject.constraints
            if minor < since and _changes_something(constraint, name, minor)
        ]
        if places:
            first, *rest = places
            yield Found(
                f"`{name}` counts from Kubernetes 1.{since} on; {_fate(name, minor)}",
                subject.place(first, key=True),
                subject.path(first),
                "leave it out, or keep the manifest for newer clusters",
                tuple(Label(subject.place(route, key=True), "here, too") for route in rest),
            )


def _fate(name: str, minor: int) -> str:
    if minor < KNOWN_SINCE[name]:
        return f"1.{minor} does not know it, and refuses it or drops it in silence"
    return f"1.{minor} drops it in silence, as its feature gate is off"


def _changes_something(constraint: TopologySpreadConstraint, name: str, minor: int) -> bool:
    """Whether a field is written, and is refused or has another value than its absence means."""
    value, default = {
        "minDomains": (constraint.min_domains, 1),
        "nodeAffinityPolicy": (constraint.node_affinity_policy, HONOR),
        "nodeTaintsPolicy": (constraint.node_taints_policy, IGNORE),
        "matchLabelKeys": (constraint.match_label_keys or None, None),
    }[name]
    return value is not None and (minor < KNOWN_SINCE[name] or value != default)
