"""No way to place the replicas meets all constraints together.

Each constraint can be met by itself, and no other rule says why the pods do not fit: it is their combination, or that
of a constraint with the room that there is in a domain. Every way in which the scheduler could place the pods was
looked at, not only the one it takes first. Where there are too many ways, nothing is said.

Example, with --topology examples/scenarios/even-zones-and-even-nodes-conflict/cluster.yaml:

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 6
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            nodeTaintsPolicy: Honor
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: DoNotSchedule
            nodeTaintsPolicy: Honor
            labelSelector: {matchLabels: {app: db}}

Let the constraint that the hint names be ScheduleAnyway, or raise its `maxSkew`; else change the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.impossible import unsatisfiable
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.text.wording import counted


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints without which all pods find nodes, and with which no order of placing them does."""
    found = unsatisfiable(subject, project)
    if found is None:
        return
    became, hard = found.outcome, subject.hard
    helping = [subject.constraints[position] for position in found.best.helping]
    blamed = helping[-1] if helping else hard[-1]
    route = subject.route(blamed, "topologyKey")
    others = [item for item in hard if item is not blamed]
    conflict = f"; in the way are {', '.join(became.conflict)}" if became.conflict else ""
    pods, most = counted(became.pods, "pod"), found.best.most
    best = (
        f"no placement of {pods} meets all constraints, the best one takes {most}"
        if most
        else "no node meets all constraints"
    )
    yield Found(
        f"{best}{conflict}",
        subject.place(route),
        subject.path(route),
        _hint(helping),
        tuple(Label(subject.place(subject.route(item, "topologyKey")), "together with this one") for item in others),
    )


def _hint(helping: list[TopologySpreadConstraint]) -> str:
    keys = list(dict.fromkeys(f"`{item.topology_key}`" for item in helping))
    if keys:
        return f"let {' or '.join(keys)} be ScheduleAnyway: then all find a node"
    return "let every constraint be ScheduleAnyway: then all find a node"
