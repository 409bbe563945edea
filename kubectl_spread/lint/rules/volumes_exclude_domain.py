"""A hard constraint counts domains in which a claim's StorageClass makes no volume.

`allowedTopologies` of a StorageClass says where its volumes may be. A pod whose claim is yet to be bound goes nowhere
else, but the constraint counts every domain that the cluster's nodes have: one where no volume can be made stays the
smallest, and the others get at most `maxSkew` pods more than it has.

Reported are the claims of StatefulSets and of ephemeral volumes, where the class waits for the pod and no volume of
it lies ready, and none of the pods runs. The placement that `check` prints leaves volumes aside that are yet to be
made: it may show a node for each pod, while more of them than find room here stay Pending.

Example, with --topology zones=3,nodes=1:

    apiVersion: storage.k8s.io/v1
    kind: StorageClass
    metadata: {name: fast}
    provisioner: csi.example.com
    volumeBindingMode: WaitForFirstConsumer
    allowedTopologies:
    - matchLabelExpressions:
      - {key: topology.kubernetes.io/zone, values: [a, b]}
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 4
      selector: {matchLabels: {app: db}}
      volumeClaimTemplates:
      - metadata: {name: data}
        spec: {storageClassName: fast, accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
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

Allow the class in every domain, or keep the pods to its domains with node affinity, which then are all that count.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import volumes
from kubectl_spread.lint.queries.accounts import hard_accounts
from kubectl_spread.lint.queries.volumes import ClaimTemplate
from kubectl_spread.lint.wording import named
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.account import Account
from kubectl_spread.objects.account import Domain
from kubectl_spread.text.wording import counted


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find claims whose class keeps pods out of counted domains."""
    claims = [*volumes.claim_templates(subject), *volumes.ephemeral_claims(subject)]
    if project.facts is None or not claims or project.facts.has_claims(subject.workload):
        return
    most = project.replicas(subject).maximum
    for constraint, account in hard_accounts(subject, project):
        for claim in claims:
            excluded = _excluded(claim, account, project, key=constraint.topology_key)
            runs = project.facts.live(subject.workload, constraint) is not None
            if not excluded or account.is_below_min_domains or runs:
                continue
            most_in_a_domain = account.max_skew + min(domain.matching for domain in (*excluded, *account.unreachable))
            room = _room(account, excluded, most_in_a_domain)
            if most is not None and most <= room:
                continue
            route = (*claim.route, "storageClassName")
            yield Found(
                f"StorageClass makes no volume in {named(domain.value for domain in excluded)}, which the constraint "
                f"over `{constraint.topology_key}` counts: no other gets more than {most_in_a_domain}, room for "
                f"{counted(room, 'pod')}{_shown(subject, project, room=room)}",
                subject.place(route),
                subject.path(route),
                "allow the class in every domain, or keep the pods to its domains with node affinity",
            )
            break  # the other claims are likely of the same class


def _shown(subject: Subject, project: Project, *, room: int) -> str:
    """What explains a placement of more pods."""
    became = project.facts.outcome(subject.workload) if project.facts is not None else None
    if became is None or became.placed <= room:
        return ""
    return f"; the placement, which leaves volumes to come aside, has {became.placed}"


def _excluded(claim: ClaimTemplate, account: Account, project: Project, *, key: str) -> list[Domain]:
    """The counted domains where a class makes no volume; none where that leaves no other."""
    name = claim.spec.get("storageClassName")
    facts = project.facts
    values = facts.volume_values(name, key) if facts is not None and (name is None or isinstance(name, str)) else None
    if values is None:
        return []
    excluded = [domain for domain in account.counted if domain.value not in values]
    return excluded if len(excluded) < len(account.counted) else []


def _room(account: Account, excluded: list[Domain], most_in_a_domain: int) -> int:
    """The most pods that the domains which are left take."""
    left = [domain for domain in account.counted if domain.usable and domain not in excluded]
    return sum(max(0, most_in_a_domain - domain.matching) for domain in left)
