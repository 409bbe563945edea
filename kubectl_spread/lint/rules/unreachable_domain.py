"""A hard constraint counts a domain where no node takes the pod.

Domains are counted by the labels of nodes, whether or not the pod can run there: `nodeTaintsPolicy` is `Ignore` by
default, and a cordoned or full node is a node like any other. A domain that no pod of the workload can go to keeps the
few pods it has, mostly none, and it is the smallest: every other domain gets at most `maxSkew` more than that.

It is an error where pods of the workload are left over for that reason, else a warning where those of a rolling update
would be, which count beside the old ones.

Example, with --topology examples/scenarios/tainted-zone-stays-empty/cluster.yaml:

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

Write `nodeTaintsPolicy: Honor` where a taint keeps the pods out, uncordon the nodes, or make room on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.accounts import sized
from kubectl_spread.lint.queries.accounts import with_field
from kubectl_spread.lint.queries.unreachable import Unreachable
from kubectl_spread.lint.queries.unreachable import unreachable
from kubectl_spread.lint.wording import named
from kubectl_spread.lint.wording import node_reasons
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects import field_versions
from kubectl_spread.objects.account import Domain
from kubectl_spread.objects.constraint import HONOR
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.node_reason import NodeReasonKind
from kubectl_spread.text.edit import Put


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find counted domains out of reach, and whether honouring taints would help."""
    for fault in unreachable(subject, project):
        route = subject.route(fault.constraint, "topologyKey")
        helps = _honor_helps(subject, project, fault=fault)
        yield Found(
            _message(fault),
            subject.place(route),
            subject.path(route),
            _hint(fault.domains, helps=helps),
            severity=fault.severity,
            fix=_honored(subject, fault.constraint) if helps else None,
        )


def _message(fault: Unreachable) -> str:
    constraint, account, domains, _ = fault
    reasons = Counter(domain.unusable_because for domain in domains if domain.unusable_because)
    why = f" ({'; '.join(node_reasons(reason) for reason, _ in reasons.most_common(2))})" if reasons else ""
    counted = "is counted" if len(domains) == 1 else "are counted"
    return (
        f"{named(domain.value for domain in domains)} {counted}, though no node there takes the pod{why}: "
        f"the emptiest keeps {account.minimum}, so no other `{constraint.topology_key}` gets more than "
        f"{account.most_in_a_domain}"
    )


def _hint(domains: list[Domain], *, helps: bool) -> str:
    if helps:
        return "write nodeTaintsPolicy: Honor, which leaves tainted nodes out of the count"
    if any(reason.kind is NodeReasonKind.CORDON for domain in domains for reason in domain.unusable_because[:1]):
        return "uncordon a node there, or let the constraint be ScheduleAnyway"
    return "make room there, or let the constraint be ScheduleAnyway"


def _honor_helps(subject: Subject, project: Project, *, fault: Unreachable) -> bool:
    """Whether there is more room with taints honoured, and those pods find a node that did not for want of it."""
    constraint, account = fault.constraint, fault.account
    facts, is_stored = project.facts, field_versions.stores("nodeTaintsPolicy", project.target.minor)
    if facts is None or constraint.node_taints_policy == HONOR or not is_stored:
        return False
    changed = with_field(sized(subject, project), constraint, nodeTaintsPolicy=HONOR)
    honoured = facts.account(changed, constraint)
    if honoured is None or honoured.room <= account.room:
        return False
    became = facts.outcome(changed)
    return became is not None and became.pending <= max(0, became.pods - account.room - 1)


def _honored(subject: Subject, constraint: TopologySpreadConstraint) -> Fix:
    route = subject.route(constraint, "nodeTaintsPolicy")
    return Fix("count only nodes whose taints the pod tolerates", (Put(route, HONOR),))
