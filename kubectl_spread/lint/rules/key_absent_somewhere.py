"""Some nodes that the pods may use lack the label of a constraint.

## What it does

Reports a constraint whose label is missing on some nodes that the pods may use.

## Why it matters

DoNotSchedule refuses a node without the label, so the pods never run there. A node without the label of a
ScheduleAnyway constraint gets no score from any of the pod's ScheduleAnyway constraints, and pods on it do not count.
So most pods go to other nodes.

A node that lacks the label of one DoNotSchedule constraint does not count for the others either. If a whole zone lacks
the rack label, a constraint over zones does not count that zone. All pods may end up in one zone, none is Pending, and
no event shows it.

## Example

With `--topology examples/scenarios/missing-rack-label-hides-a-zone/cluster-three-zones.yaml`:

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

## Use instead

Label the nodes, or keep the pods away from them with a nodeSelector.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.cluster.facts import ConstraintFacts
from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import misspelt_keys
from kubectl_spread.lint.queries.on_cluster import constraint_facts, lacks_nowhere
from kubectl_spread.lint.wording import domain, list_names, none_of
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.selectors.labels import HOSTNAME


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints over labels that some usable nodes lack; one finding for a group of nodes."""
    reported: set[str] = set()
    known = sorted(constraint_facts(subject, project), key=lambda item: not item[0].is_hard)
    for constraint, account in known:
        key = constraint.topology_key
        lacking = [name for name in account.without_key if name not in reported]
        if (
            not lacking
            or (constraint.is_hard and not lacks_nowhere(account))
            or misspelt_keys.is_reported(constraint.topology_key, project)
        ):
            continue
        reported.update(lacking)
        route = subject.route(constraint, "topologyKey")
        yield RuleFinding(
            _message(constraint, account, lacking) + (_hidden(known, constraint) if constraint.is_hard else ""),
            subject.place(route),
            subject.path(route),
            f"label the nodes: kubectl label node {lacking[0]} {key}=...",
        )


def _hidden(known: list[tuple[TopologySpreadConstraint, ConstraintFacts]], lacked: TopologySpreadConstraint) -> str:
    """Return which domains of other hard constraints do not count because of a missing label."""
    if sum(1 for constraint, account in known if constraint.is_hard and account.without_key) > 1:
        return ""
    hidden = [
        _hides(constraint.topology_key, [item.value for item in account.hidden_domains])
        for constraint, account in known
        if constraint.is_hard
        and constraint.topology_key not in (lacked.topology_key, HOSTNAME)
        and account.hidden_domains
    ]
    return "".join(hidden)


def _hides(key: str, values: list[str]) -> str:
    does, noun = ("does", f"a {domain(key)}") if len(values) == 1 else ("do", domain(key, plural=True))
    return f". Because of this, {list_names(values)} {does} not count as {noun}"


def _message(constraint: TopologySpreadConstraint, account: ConstraintFacts, lacking: list[str]) -> str:
    key = constraint.topology_key
    if len(account.without_key) == account.candidates:
        return (
            f"the constraint has no effect: {none_of(account.candidates, ' that the pod can use')} has the label "
            f"`{key}`"
        )
    then = "the pods never run on" if constraint.is_hard else "ScheduleAnyway constraints give no score to"
    lack = "lacks" if len(lacking) == 1 else "lack"
    return (
        f"{then} {list_names(lacking)}: {len(lacking)} of {account.candidates} nodes that the pod can use {lack} the "
        f"label `{key}`"
    )
