"""Some nodes that the pods may use lack the label of a constraint.

A DoNotSchedule constraint refuses a node without its `topologyKey`, so that the pods never use it. Where a
ScheduleAnyway constraint's label is missing, the node gets no score from any of the pod's soft constraints, and its
pods are not counted: most pods go elsewhere. Nodes that the pods may not use anyway are not looked at.

A node that lacks the label of one DoNotSchedule constraint is counted by none of them. Where a whole zone lacks the
rack label, the constraint over zones does not count that zone either: all pods may end up in one zone, none is Pending,
and no event tells of it.

Example, with --topology examples/scenarios/missing-rack-label-hides-a-zone/cluster-three-zones.yaml:

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 4
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: rack
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

Label the nodes, or keep the pods off them with a nodeSelector.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import misspelt_keys
from kubectl_spread.lint.queries.accounts import accounts
from kubectl_spread.lint.queries.accounts import lacks_nowhere
from kubectl_spread.lint.wording import named
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.account import Account
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.labels import HOSTNAME


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find constraints over labels that some usable nodes lack; one finding for a group of nodes."""
    told: set[str] = set()
    known = sorted(accounts(subject, project), key=lambda item: not item[0].is_hard)
    for constraint, account in known:
        key = constraint.topology_key
        lacking = [name for name in account.without_key if name not in told]
        if (
            not lacking
            or (constraint.is_hard and not lacks_nowhere(account))
            or misspelt_keys.is_reported(constraint.topology_key, project)
        ):
            continue
        told.update(lacking)
        route = subject.route(constraint, "topologyKey")
        yield Found(
            _message(constraint, account, lacking) + (_hidden(known, constraint) if constraint.is_hard else ""),
            subject.place(route),
            subject.path(route),
            f"label them: kubectl label node {lacking[0]} {key}=...",
        )


def _hidden(known: list[tuple[TopologySpreadConstraint, Account]], lacked: TopologySpreadConstraint) -> str:
    """The domains of other hard constraints that are not counted for want of a label, where only one is."""
    if sum(1 for constraint, account in known if constraint.is_hard and account.without_key) > 1:
        return ""
    told = [
        f"; without it `{constraint.topology_key}` does not count {named(domain.value for domain in account.hidden)}"
        for constraint, account in known
        if constraint.is_hard and constraint.topology_key not in (lacked.topology_key, HOSTNAME) and account.hidden
    ]
    return "".join(told)


def _message(constraint: TopologySpreadConstraint, account: Account, lacking: list[str]) -> str:
    key = constraint.topology_key
    if len(account.without_key) == account.candidates:
        return f"0 of {account.candidates} nodes that the pod may use have the label `{key}`: no node is scored"
    then = "the pod never goes there" if constraint.is_hard else "no constraint scores them"
    lack = "lacks" if len(lacking) == 1 else "lack"
    return (
        f"{len(lacking)} of {account.candidates} nodes that the pod may use {lack} the label `{key}`, so {then}: "
        f"{named(lacking)}"
    )
