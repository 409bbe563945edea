"""Zone and hostname are both DoNotSchedule with maxSkew 1.

Each rule alone can be met where both cannot: two zones with 1 and 3 nodes and six pods want 3 in each zone, so 3 on
the one node, whose skew is then 2 or more. Such pods stay Pending although there is room.

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
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
            nodeTaintsPolicy: Honor

Let one of the two be ScheduleAnyway, most often that of the hostname.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import remedies
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.rules import combined_unsatisfiable
from kubectl_spread.lint.subject import Subject
from kubectl_spread.objects.labels import HOSTNAME
from kubectl_spread.objects.labels import ZONE


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find the pair of constraints."""
    by_key = {item.topology_key: item for item in subject.hard if item.max_skew == 1}
    if ZONE in by_key and HOSTNAME in by_key and not any(combined_unsatisfiable.check(subject, project)):
        route = subject.route(by_key[HOSTNAME], "whenUnsatisfiable")
        other = subject.place(subject.route(by_key[ZONE], "whenUnsatisfiable"))
        yield Found(
            "zone and hostname are both DoNotSchedule with maxSkew 1: where zones differ in nodes, "
            "no placement may satisfy both",
            subject.place(route),
            subject.path(route),
            "let this one be ScheduleAnyway",
            (Label(other, "the zone's constraint"),),
            fix=remedies.softened(subject, by_key[HOSTNAME]),
        )
