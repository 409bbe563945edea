"""Fewer replicas leave the running pods further apart than `maxSkew`.

A ReplicaSet does not ask any constraint which pods to remove. Of pods that run and are ready it removes first those
whose node holds the most of them, and the numbers are taken once: where two zones have a node with three pods each and
a third has them on two nodes, the two zones lose all of theirs before the third loses any. What is left is uneven, and
nothing moves it.

The pods of the cluster facts are compared with the fewest replicas that the files ask for: `replicas`, or the minimum
of an autoscaler, to which they are scaled down at once. Of nodes that hold as many pods any may lose theirs, the
youngest first: the finding tells of the best that can come of it. Pods that are not ready go before all others, and
so do those with a lower deletion cost; neither is known here.

Example, with --snapshot examples/scenarios/scale-down-empties-zones/snapshot.yaml:

    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
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
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

Spread over nodes as well, so that each holds as many; or restart the workload after it was scaled down.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.accounts import hard_accounts
from kubectl_spread.lint.wording import named
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints that running pods meet now, and do not once there are as few as the files allow."""
    fewest = project.replicas(subject).minimum
    if project.facts is None or not fewest:
        return
    for constraint, account in hard_accounts(subject, project):
        now = project.facts.live(subject.workload, constraint)
        then = project.facts.scaled_down(subject.workload, constraint, fewest)
        if now is None or then is None or now.skew is None or then.skew is None:
            continue
        if now.skew > account.max_skew or then.skew <= account.max_skew:
            continue
        route = subject.route(constraint, "maxSkew")
        yield Found(
            f"scaled down to {fewest} at once, pods stay {then.skew} apart at best, `{then.fullest}` {then.most} and "
            f"{named(then.minimum_in)} {then.minimum}, and maxSkew is {account.max_skew}: a ReplicaSet removes pods by "
            f"node, not by constraint",
            subject.place(route),
            subject.path(route),
            "spread over nodes as well, or restart the workload afterwards",
        )
