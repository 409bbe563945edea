"""Old pods count during a rolling update.

## What it does

Reports a DoNotSchedule constraint of a Deployment or Argo Rollout without the revision key in `matchLabelKeys`, if new
pods start before old ones stop. That is the case with a `maxSurge` above 0 (25 % by default) and for a `blueGreen`
Rollout. With `maxSurge: 0` each new pod fills the gap of an old one, and `type: Recreate` leaves no old pod. There the
key is of no use: with `maxSurge: 0` it makes the pods less even during the rollout, which SPR404 reports if selected.

## Why it matters

The new pods are placed so that old and new pods together are even. When the old ones are gone, the new ones may not
be, and nothing moves them. On a full cluster, new pods may stay Pending because of old pods that are about to stop.

## Example

    apiVersion: apps/v1
    kind: Deployment
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
            nodeTaintsPolicy: Honor
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers:
          - {name: web, image: registry.example/web:1.25}

## Use instead

Add `matchLabelKeys: [pod-template-hash]` (from 1.27). Each revision then counts only its own pods.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web}}
      matchLabelKeys: [pod-template-hash]
      nodeTaintsPolicy: Honor

## Fix safety

The fix is unsafe: the constraint counts other pods than before.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix, Label, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.rollout import surge_text
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH
from kubectl_spread.text.edit import Append, Change, Put


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find Deployments whose hard constraints do not tell revisions apart; once a workload."""
    if not field_versions.stores("matchLabelKeys", project.target.minor):
        return  # nothing to be done
    surge = surge_text(subject)
    if not surge or project.replicas(subject).likely in (0, 1):
        return
    blind = [
        constraint
        for constraint in subject.hard
        if subject.revision_label not in (*constraint.match_label_keys, *constraint.selected_keys)
        and subject.is_in_its_group(constraint)
        and not _is_misnamed(subject, constraint)
    ]
    if blind:
        first, *rest = blind
        route = subject.route(first, "matchLabelKeys")
        yield RuleFinding(
            "during a rolling update the old pods are counted too, so the new pods can end up unevenly spread "
            f"({surge})",
            subject.place(route),
            subject.path(route),
            f"add matchLabelKeys: [{subject.revision_label}]",
            tuple(Label(subject.place(subject.route(item)), "also here") for item in rest),
            fix=Fix("let each revision count its own pods", tuple(_with_key(subject, item) for item in blind)),
        )


def _is_misnamed(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Return whether a Rollout's constraint has the key of a Deployment, which SPR403 reports."""
    return (
        subject.workload.kind == "Rollout"
        and POD_TEMPLATE_HASH in constraint.match_label_keys
        and POD_TEMPLATE_HASH not in subject.labels
    )


def _with_key(subject: Subject, constraint: TopologySpreadConstraint) -> Change:
    route = subject.route(constraint, "matchLabelKeys")
    return (
        Append(route, subject.revision_label) if constraint.match_label_keys else Put(route, [subject.revision_label])
    )
