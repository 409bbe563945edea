"""Hard constraints that count a domain in which no node takes the pod, and how bad that is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Optional

from kubectl_spread.cluster.facts import ConstraintFacts, DomainFacts
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.on_cluster import hard_constraint_facts, outcome
from kubectl_spread.lint.queries.rollout import surge
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint


class Unreachable(NamedTuple):
    """A constraint with counted domains where no node takes the pod, and how bad that is."""

    constraint: TopologySpreadConstraint
    account: ConstraintFacts
    domains: list[DomainFacts]
    severity: Severity


def unreachable_domains(subject: Subject, project: Project) -> Iterator[Unreachable]:
    """Yield counted domains that no pod can go to; SPR307 reports those outside the pod's node affinity."""
    for constraint, account in hard_constraint_facts(subject, project):
        domains = [domain for domain in account.unreachable if domain.chosen]
        if not domains or len(account.unreachable) == len(account.counted_domains) or account.is_below_min_domains:
            continue
        severity = _severity(subject, project, constraint=constraint, account=account)
        if severity is not None:
            yield Unreachable(constraint, account, domains, severity)


def _severity(
    subject: Subject, project: Project, *, constraint: TopologySpreadConstraint, account: ConstraintFacts
) -> Optional[Severity]:
    """Return error if pods stay Pending because of it, warning if those of an update or autoscaler would."""
    became = outcome(subject, project)
    if became is not None and became.is_preempting:
        return None  # an evicted pod may make room there
    if became is not None and became.falls_short and became.pods > account.room:
        return Severity.ERROR
    most = project.replicas(subject).maximum
    if most is None or most + surge(subject, constraint, most) > account.room:
        return Severity.WARNING
    return None
