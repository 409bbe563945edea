"""Nodes share a hostname, so a hard constraint counts them as one node.

## What it does

Reports a DoNotSchedule constraint over `kubernetes.io/hostname` if several nodes have the same value of the label.

## Why it matters

The kubelet sets the label to the node's own name, but a cloned machine or a label set by hand may repeat it. The
constraint counts the pods of these nodes together, so together they get as many pods as one other node. No pod is
Pending, and no event shows it.

## Example

With `--topology examples/scenarios/two-nodes-share-a-hostname/cluster.yaml`:

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

## Use instead

Give each machine its own hostname, or its kubelet a `--hostname-override`. A label corrected with `kubectl label
--overwrite` lasts until the kubelet restarts.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.cluster.facts import ConstraintFacts
from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.on_cluster import constraint_facts
from kubectl_spread.lint.wording import list_names
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints over the hostname where nodes that the pods may use share it; soft ones count by node."""
    for constraint, account in constraint_facts(subject, project):
        if not constraint.is_hard or not account.sharing:
            continue
        route = subject.route(constraint, "topologyKey")
        yield RuleFinding(
            _message(account),
            subject.place(route),
            subject.path(route),
            "give each machine its own hostname; a label corrected by hand lasts until the kubelet restarts",
        )


def _message(account: ConstraintFacts) -> str:
    value, nodes = account.sharing[0]
    more = len(account.sharing) - 1
    others = f" ({more} more {'value is' if more == 1 else 'values are'} shared)" if more else ""
    return (
        f"{list_names(nodes)} together get as many pods as one other node: they have the same "
        f"`kubernetes.io/hostname`, `{value}`{others}"
    )
