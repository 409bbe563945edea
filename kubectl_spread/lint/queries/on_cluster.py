"""Facts of a known cluster about a workload: its constraints, and how many of its pods find a node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.cluster.facts import ConstraintFacts, DomainFacts
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.rollout import surge
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.objects.workloads.workload import Workload

if TYPE_CHECKING:
    from kubectl_spread.cluster.facts import ConstraintFacts, PlacedReplicas


def constraint_facts(subject: Subject, project: Project) -> Iterator[tuple[TopologySpreadConstraint, ConstraintFacts]]:
    """Yield the constraints of a workload that the API server takes, as the cluster sees them."""
    if project.facts is None or subject.refusals:
        return
    for constraint in subject.constraints:
        account = project.facts.constraint_facts(subject.workload, constraint)
        if account is not None:
            yield constraint, account


def hard_constraint_facts(
    subject: Subject, project: Project
) -> Iterator[tuple[TopologySpreadConstraint, ConstraintFacts]]:
    """Yield the DoNotSchedule constraints that count the workload's own pods.

    Yield none if some label is on no node that the pod may use: then nothing else matters.
    """
    hard = [(constraint, account) for constraint, account in constraint_facts(subject, project) if constraint.is_hard]
    if all(lacks_nowhere(account) for _, account in hard):
        yield from (item for item in hard if item[1].counts_own)


def lacks_nowhere(account: ConstraintFacts) -> bool:
    """Return whether some node that the pod may use has the label, or no such node exists."""
    return account.nodes_with_key > 0 and (not account.candidates or len(account.without_key) < account.candidates)


def with_fewest_replicas(subject: Subject, project: Project) -> Workload:
    """Return the workload with its fewest replicas; 1 if no number is written."""
    least = project.replicas(subject).minimum
    return subject.workload if least is None else subject.workload._replace(replicas=least)


def outcome(subject: Subject, project: Project) -> Optional[PlacedReplicas]:
    """Return how many of the fewest pods that the workload may have find a node; None if unpredictable."""
    return None if project.facts is None else project.facts.outcome(with_fewest_replicas(subject, project))


def with_field(workload: Workload, constraint: TopologySpreadConstraint, **fields: Any) -> Workload:
    """Return the workload if its constraint had other fields."""
    spec = workload.template.get("spec") or {}
    written = list(mappings(spec.get(FIELD)))
    written[constraint.position] = {**written[constraint.position], **fields}
    return workload._replace(template={**workload.template, "spec": {**spec, FIELD: written}})


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
