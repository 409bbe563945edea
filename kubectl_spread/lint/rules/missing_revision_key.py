"""A rolling update counts the pods of the old revision.

While a Deployment is updated its old pods still run and are counted with the new ones. The new ones are placed so that
old and new together are even; when the old have gone, the new ones may not be, and nothing moves them. On a full
cluster new pods may stay Pending for the sake of pods that are about to go.

This applies if new pods start before old ones stop: `maxSurge` is above 0 (the default is 25 %), or an Argo Rollout is
`blueGreen`. With `maxSurge: 0` each new pod fills the gap that an old one leaves, and counting both is right. With
`type: Recreate` no old pod is left.

Example:
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

`matchLabelKeys: [pod-template-hash]` (from 1.27) makes each revision count its own pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.rollout import surge_text
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects import field_versions
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.workload import POD_TEMPLATE_HASH
from kubectl_spread.text.edit import Append
from kubectl_spread.text.edit import Change
from kubectl_spread.text.edit import Put


def check(subject: Subject, project: Project) -> Iterator[Found]:
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
        yield Found(
            "during a rolling update the old pods are counted too, so the new pods can end up unevenly spread "
            f"({surge})",
            subject.place(route),
            subject.path(route),
            f"add matchLabelKeys: [{subject.revision_label}]",
            tuple(Label(subject.place(subject.route(item)), "so does this one") for item in rest),
            fix=Fix("let each revision count its own pods", tuple(_with_key(subject, item) for item in blind)),
        )


def _is_misnamed(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Whether a Rollout's constraint has the key of a Deployment instead, which is SPR403's matter."""
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
