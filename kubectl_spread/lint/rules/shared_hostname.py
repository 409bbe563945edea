"""Nodes share a value of `kubernetes.io/hostname`, so that a constraint takes them for one node.

The kubelet sets the label to the node's own name; a cloned machine, or a label that somebody wrote, may repeat
another's. A domain is all nodes with the same value: a DoNotSchedule constraint over the hostname counts the pods of
these nodes together, and gives them as many as it gives one other node. Nothing is Pending, and no event tells of it.

Example, with --topology examples/scenarios/two-nodes-share-a-hostname/cluster.yaml:

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
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}

Give each machine a hostname of its own, or its kubelet a `--hostname-override`. A value written with `kubectl label
--overwrite` helps until the kubelet restarts, which writes its own again.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.accounts import accounts
from kubectl_spread.lint.wording import named
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.account import Account


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints over the hostname where nodes that the pods may use share it; soft ones count by node."""
    for constraint, account in accounts(subject, project):
        if not constraint.is_hard or not account.sharing:
            continue
        route = subject.route(constraint, "topologyKey")
        yield Found(
            _message(account),
            subject.place(route),
            subject.path(route),
            "give each machine its own hostname; a label put right by hand lasts until the kubelet restarts",
        )


def _message(account: Account) -> str:
    value, nodes = account.sharing[0]
    more = len(account.sharing) - 1
    others = f", and {more} more {'value is' if more == 1 else 'values are'} shared" if more else ""
    return f"{named(nodes)} have the same `kubernetes.io/hostname`, `{value}`: they are one domain{others}"
