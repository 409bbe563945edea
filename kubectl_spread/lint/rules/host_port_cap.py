"""A port of the node allows one pod on each node.

A container with a `hostPort`, or with a `containerPort` under `hostNetwork`, takes that port of its node, and a second
pod that asks for it is refused there. The nodes that are free of it are then all that counts: a
constraint over hostnames changes nothing, and pods beyond the number of nodes stay Pending, those of a rolling update
included.

Reported are workloads with constraints and two or more replicas, other than DaemonSets.

Example:
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

Put a Service in front of the pods instead of a port of the node, or use a DaemonSet.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import demands
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find the first port of the node that the pods contend for."""
    pods = project.replicas(subject).maximum
    if not subject.constraints or subject.workload.kind == "DaemonSet" or pods is None or pods < 2:
        return
    route = next(demands.host_ports(subject), None)
    if route is not None:
        yield Found(
            f"a node's port goes to 1 of the {pods} pods, so there is room for as many pods as nodes",
            subject.place(route),
            subject.path(route),
            "use a Service, or a DaemonSet",
        )
