"""There are fewer domains than `minDomains`, and too few for the replicas.

While the cluster has fewer domains than `minDomains`, the smallest counts as empty, so that no domain gets more than
`maxSkew` pods. What does not fit into these waits for nodes in another domain, whatever room there is. The nodes
inside the pod's node affinity make the domains; where it allows fewer values than `minDomains`, that is the fault
(SPR207, SPR312).

Example, with --topology zones=2,nodes=2:

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
          - maxSkew: 2
            minDomains: 3
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

Add nodes in another domain, or lower `minDomains` to what there is. Under a node autoscaler that can add the domain
this is the purpose of `minDomains`; ignore the rule there.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import min_domains
from kubectl_spread.lint.queries.accounts import hard_accounts
from kubectl_spread.lint.queries.accounts import outcome
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.wording import counted


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints that wait for a domain which the cluster does not have."""
    for constraint, account in hard_accounts(subject, project):
        domains = len(account.counted)
        if not account.is_below_min_domains or not domains or min_domains.allowed(subject, constraint, project):
            continue
        became = outcome(subject, project)
        if became is None or not became.falls_short or became.pods <= account.room:
            continue
        route = subject.route(constraint, "minDomains")
        there_are = "is" if domains == 1 else "are"
        yield Found(
            f"minDomains is {account.min_domains} and there {there_are} {counted(domains, 'domain')} of "
            f"`{constraint.topology_key}`: none gets more than {account.max_skew}, room for {account.room} of "
            f"{counted(became.pods, 'pod')}",
            subject.place(route),
            subject.path(route),
            f"add nodes in another domain, or write minDomains: {domains}",
        )
