"""A host port allows only one pod on each node.

## What it does

Reports workloads with constraints, two or more replicas, and a `hostPort` or a `containerPort` with `hostNetwork`.
DaemonSets are not reported. This rule is an opinion, and off by default.

## Why it matters

A second pod that asks for the same port of a node is refused there. A constraint over hostnames has no effect, and
pods beyond the number of nodes stay Pending, also during a rolling update.

## Example

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
          - name: web
            image: web
            ports: [{containerPort: 8080, hostPort: 8080}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Use a Service instead of a host port, or a DaemonSet.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import pod_requirements
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find the first port of the node that the pods contend for."""
    pods = project.replicas(subject).maximum
    if not subject.constraints or subject.workload.kind == "DaemonSet" or pods is None or pods < 2:
        return
    route = next(pod_requirements.host_ports(subject), None)
    if route is not None:
        yield RuleFinding(
            f"pods beyond the number of nodes stay Pending: each node can give this port to only one of the {pods} "
            "pods",
            subject.place(route),
            subject.path(route),
            "use a Service or a DaemonSet",
        )
