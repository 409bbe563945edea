"""Running pods violate `maxSkew`.

## What it does

Reports a DoNotSchedule constraint that the running pods do not satisfy now.

## Why it matters

A constraint is evaluated when a pod is scheduled, and never again. Pods that end, new nodes and rolling updates leave
the others where they are. New pods go to the emptiest domains, and the fullest one gets none until the others have
caught up. A domain that cannot catch up keeps pods Pending.

## Example

With `--snapshot examples/scenarios/returned-zone-stays-empty/snapshot.yaml`:

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
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

## Use instead

Let `kubectl spread rebalance` find the fewest evictions, restart the workload, or run the descheduler's
`RemovePodsViolatingTopologySpreadConstraint`. The hint says where the scheduler would put the pods if none of them ran.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.on_cluster import constraint_facts
from kubectl_spread.lint.wording import has_or_have, list_names
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint

_SHOWN = 6  # domains that a hint lists


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that the pods which run do not meet now."""
    for constraint, account in constraint_facts(subject, project):
        live = project.facts.live(subject.workload, constraint) if project.facts is not None else None
        if live is None or live.skew is None or not account.counts_own or live.skew <= account.max_skew:
            continue
        against = (
            f"{list_names(live.minimum_in)} {has_or_have(live.minimum_in)} {live.minimum}"
            if live.minimum_in
            else f"there are fewer than {account.min_domains} domains, so the emptiest counts as 0"
        )
        route = subject.route(constraint, "maxSkew")
        yield RuleFinding(
            f"the running pods are unevenly spread: `{live.fullest}` has {live.most}, and {against}. That is a skew of "
            f"{live.skew}, and maxSkew is {account.max_skew}",
            subject.place(route),
            subject.path(route),
            _hint(subject, project, constraint=constraint, most_apart=account.max_skew),
        )


def _hint(subject: Subject, project: Project, *, constraint: TopologySpreadConstraint, most_apart: int) -> str:
    """Return the hint, with the new placement if it satisfies the constraint."""
    what = "restart the workload or run the descheduler, as nothing else moves running pods"
    placed_again = project.facts.place_again(subject.workload, constraint) if project.facts is not None else None
    counts = [number for _, number in placed_again.domains] if placed_again is not None else []
    if placed_again is None or not counts or len(counts) > _SHOWN or max(counts) - min(counts) > most_apart:
        return what
    shown = ", ".join(f"`{value}` {number}" for value, number in placed_again.domains)
    return (
        f"{what}; if they were placed again, the numbers {'would' if placed_again.is_certain else 'could'} be {shown}"
    )
