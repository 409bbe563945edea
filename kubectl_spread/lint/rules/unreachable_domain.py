"""A hard constraint counts a domain in which no node can run the pod.

## What it does

Reports a DoNotSchedule constraint with such a domain. It is an error if pods of the workload stay Pending because of
it, and a warning if the extra pods of a rolling update or of an autoscaler would.

## Why it matters

Domains count by the labels of their nodes, whether or not the pod can run there: `nodeTaintsPolicy` is Ignore by
default, and a cordoned or full node counts like any other. A domain that no new pod can go to keeps its few pods
(usually none) and stays the emptiest. Every other domain takes at most `maxSkew` pods more.

## Example

With `--topology examples/scenarios/tainted-zone-stays-empty/cluster.yaml`:

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

Write `nodeTaintsPolicy: Honor` if a taint keeps the pods out. Otherwise uncordon the nodes, or make room on them.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web}}
      matchLabelKeys: [pod-template-hash]
      nodeTaintsPolicy: Honor

## Fix safety

The fix is unsafe: with fewer domains counted, pods may go where they were refused before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kubectl_spread.cluster.facts import DomainFacts
from kubectl_spread.lint.finding import Fix, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.on_cluster import with_fewest_replicas, with_field
from kubectl_spread.lint.queries.unreachable import Unreachable, unreachable_domains
from kubectl_spread.lint.wording import domain, named_domains, node_reasons
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import HONOR, TopologySpreadConstraint
from kubectl_spread.objects.node_reason import NodeReasonKind
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.selectors.labels import HOSTNAME
from kubectl_spread.text.edit import Put
from kubectl_spread.text.wording import count_noun


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find counted domains out of reach, and whether honouring taints would help."""
    for fault in unreachable_domains(subject, project):
        route = subject.route(fault.constraint, "topologyKey")
        helps = _honor_helps(subject, project, fault=fault)
        yield RuleFinding(
            _message(fault),
            subject.place(route),
            subject.path(route),
            _hint(fault.domains, helps=helps),
            severity=fault.severity,
            fix=_honored(subject, fault.constraint) if helps else None,
        )


def _message(fault: Unreachable) -> str:
    constraint, account, domains, _ = fault
    reasons = Counter(item.unusable_because for item in domains if item.unusable_because)
    why = f" ({'; '.join(node_reasons(reason) for reason, _ in reasons.most_common(2))})" if reasons else ""
    key = constraint.topology_key
    is_one = len(domains) == 1
    counts, its_count, it = ("counts", "its count", "it") if is_one else ("count", "the lowest count", "them")
    nowhere = "cannot run this pod" if key == HOSTNAME else f"no node in {it} can run this pod"
    where = named_domains(key, [item.value for item in domains])
    return (
        f"pods stay Pending once every other {domain(key)} has {count_noun(account.most_in_a_domain, 'pod')}. "
        f"{where} {counts} towards the skew, but {nowhere}{why}. So {its_count} stays "
        f"{account.minimum}, and maxSkew {account.max_skew} limits the others"
    )


def _hint(domains: list[DomainFacts], *, helps: bool) -> str:
    if helps:
        return "write nodeTaintsPolicy: Honor, so that tainted nodes do not count"
    if any(reason.kind is NodeReasonKind.CORDON for item in domains for reason in item.unusable_because[:1]):
        return "uncordon a node there, or use ScheduleAnyway"
    return "make room there, or use ScheduleAnyway"


def _honor_helps(subject: Subject, project: Project, *, fault: Unreachable) -> bool:
    """Return whether honoring taints makes room, and the Pending pods then find a node."""
    constraint, account = fault.constraint, fault.account
    facts, is_stored = project.facts, field_versions.stores("nodeTaintsPolicy", project.target.minor)
    if facts is None or constraint.node_taints_policy == HONOR or not is_stored:
        return False
    changed = with_field(with_fewest_replicas(subject, project), constraint, nodeTaintsPolicy=HONOR)
    honoured = facts.constraint_facts(changed, constraint)
    if honoured is None or honoured.room <= account.room:
        return False
    became = facts.outcome(changed)
    return became is not None and became.pending <= max(0, became.pods - account.room - 1)


def _honored(subject: Subject, constraint: TopologySpreadConstraint) -> Fix:
    route = subject.route(constraint, "nodeTaintsPolicy")
    return Fix("count only nodes whose taints the pod tolerates", (Put(route, HONOR),))
