"""A hard constraint has only one domain, so that it is always met.

Skew compares a domain with the smallest one that is counted. Where there is one domain only, it is compared with
itself: all pods may go there, and DoNotSchedule refuses nothing. Nodes outside the pod's node affinity, and with
`nodeTaintsPolicy: Honor` tainted ones, make no domain.

Example, with --topology zones=1,nodes=3:

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
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

Write `minDomains: 2`, so that what goes beyond `maxSkew` waits for a second domain, or leave the constraint out.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.accounts import hard_accounts
from kubectl_spread.lint.queries.demands import has_one_domain
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints that compare one domain with itself."""
    most = project.replicas(subject).maximum
    for constraint, account in hard_accounts(subject, project):
        if len(account.counted) != 1 or account.is_below_min_domains or (most is not None and most <= account.max_skew):
            continue
        (only,) = account.counted
        if not only.usable or has_one_domain(subject, constraint):
            continue  # SPR207 says the latter
        domains, key = len(account.domains), constraint.topology_key
        alone = (
            f"the only domain of `{key}`"
            if domains == 1
            else f"the only one of {domains} `{key}` that counts for the pod"
        )
        route = subject.route(constraint, "topologyKey")
        yield Found(
            f"`{only.value}` is {alone}: the constraint refuses nothing, and all pods may go there",
            subject.place(route),
            subject.path(route),
            "write minDomains: 2, so that pods beyond maxSkew wait for a second one",
        )
