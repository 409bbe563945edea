"""A hard constraint counts domains in which a volume cannot be created.

## What it does

Reports claims of StatefulSets and ephemeral volumes whose StorageClass waits for the pod and allows only some of the
counted domains. Nothing is reported if pods run already or an unused volume exists. The placement that `check` prints
ignores volumes that do not exist yet: it may show a node for pods that stay Pending.

## Why it matters

`allowedTopologies` of a StorageClass limits where its volumes can be. A pod with an unbound claim can only go there.
The constraint counts every domain, so a domain without volumes stays the emptiest, and the others take at most
`maxSkew` pods more.

## Example

With `--topology zones=3,nodes=1`:

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

## Use instead

Allow the class in every domain, or restrict the pods to its domains with node affinity: then only these count.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.cluster.facts import ConstraintFacts, DomainFacts
from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import volumes
from kubectl_spread.lint.queries.on_cluster import hard_constraint_facts
from kubectl_spread.lint.queries.volumes import ClaimTemplate
from kubectl_spread.lint.wording import domain, list_names
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.wording import count_noun


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find claims whose class keeps pods out of counted domains."""
    claims = [*volumes.claim_templates(subject), *volumes.ephemeral_claims(subject)]
    if project.facts is None or not claims or project.facts.has_claims(subject.workload):
        return
    most = project.replicas(subject).maximum
    for constraint, account in hard_constraint_facts(subject, project):
        for claim in claims:
            excluded = _excluded(claim, account, project, key=constraint.topology_key)
            runs = project.facts.live(subject.workload, constraint) is not None
            if not excluded or account.is_below_min_domains or runs:
                continue
            most_in_a_domain = account.max_skew + min(item.matching for item in (*excluded, *account.unreachable))
            room = _room(account, excluded, most_in_a_domain)
            if most is not None and most <= room:
                continue
            route = (*claim.route, "storageClassName")
            it = "it" if len(excluded) == 1 else "them"
            yield RuleFinding(
                f"at most {count_noun(room, 'pod')} can run, and further pods stay Pending. The StorageClass allows no "
                f"volume in {list_names(item.value for item in excluded)}, but the constraint counts {it}, so no other "
                f"{domain(constraint.topology_key)} takes more than {count_noun(most_in_a_domain, 'pod')}"
                f"{_shown(subject, project, room=room)}",
                subject.place(route),
                subject.path(route),
                "allow the class in every domain, or restrict the pods to its domains with node affinity",
            )
            break  # the other claims are likely of the same class


def _shown(subject: Subject, project: Project, *, room: int) -> str:
    """Return why the printed placement has more pods; empty if it does not."""
    became = project.facts.outcome(subject.workload) if project.facts is not None else None
    if became is None or became.placed <= room:
        return ""
    return f". The placement shows {count_noun(became.placed, 'pod')}, as it ignores volumes that do not exist yet"


def _excluded(claim: ClaimTemplate, account: ConstraintFacts, project: Project, *, key: str) -> list[DomainFacts]:
    """Return the counted domains where a class makes no volume; none where that leaves no other."""
    name = claim.spec.get("storageClassName")
    facts = project.facts
    values = facts.volume_values(name, key) if facts is not None and (name is None or isinstance(name, str)) else None
    if values is None:
        return []
    excluded = [domain for domain in account.counted_domains if domain.value not in values]
    return excluded if len(excluded) < len(account.counted_domains) else []


def _room(account: ConstraintFacts, excluded: list[DomainFacts], most_in_a_domain: int) -> int:
    """Return the most pods that the domains which are left take."""
    left = [domain for domain in account.counted_domains if domain.usable and domain not in excluded]
    return sum(max(0, most_in_a_domain - domain.matching) for domain in left)
