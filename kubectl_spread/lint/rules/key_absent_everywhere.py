"""No node that the pods may use has the label of a hard constraint.

## What it does

Reports a DoNotSchedule constraint whose label is on no node that the pods may use. The label does not help on cordoned
nodes, on nodes outside the pods' node affinity, and on nodes with a taint that they do not tolerate.

## Why it matters

The scheduler refuses a node without the label, whatever the other constraints say. All pods stay Pending.

## Example

With `--topology zones=3,nodes=2`:

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 3
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: example.com/rack
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

## Use instead

Use a label that the nodes have, or label the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.cluster.facts import ConstraintFacts
from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import misspelt_keys
from kubectl_spread.lint.queries.on_cluster import constraint_facts, lacks_nowhere
from kubectl_spread.lint.wording import none_of
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.wording import count_noun, did_you_mean


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints over labels that no usable node has; a misspelt label is another rule's."""
    for constraint, account in constraint_facts(subject, project):
        key = constraint.topology_key
        if (
            not constraint.is_hard
            or lacks_nowhere(account)
            or misspelt_keys.is_reported(constraint.topology_key, project)
        ):
            continue
        route = subject.route(constraint, "topologyKey")
        yield RuleFinding(
            _message(key, account),
            subject.place(route),
            subject.path(route),
            _hint(key, account, project),
        )


def _message(key: str, account: ConstraintFacts) -> str:
    if not account.nodes_with_key:
        return f"all pods stay Pending: {none_of(account.nodes)} has the label `{key}`"
    others = count_noun(account.nodes_with_key, "node")
    return (
        f"all pods stay Pending: {none_of(account.candidates, ' that they can use')} has the label `{key}`, only "
        f"{others} that they cannot use"
    )


def _hint(key: str, account: ConstraintFacts, project: Project) -> str:
    if account.nodes_with_key:
        return "label the nodes that the pods can use, or let them use others"
    known = project.facts.node_keys if project.facts is not None else frozenset()
    alike = sorted(name for name in known if name.rpartition("/")[2] == key.rpartition("/")[2])
    return f"did you mean `{alike[0]}`?" if alike else did_you_mean(key, sorted(known)) or "label the nodes"
