"""Hard constraints whose minDomains is more than the pod's node affinity allows."""

from __future__ import annotations

from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import pod_requirements
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import IGNORE, TopologySpreadConstraint
from kubectl_spread.objects.releases import field_versions


def stays_pending(subject: Subject) -> bool:
    """Return whether a pod without room waits for good: pods of Jobs end, other schedulers may differ."""
    is_job = subject.workload.kind in ("Job", "CronJob")
    return not is_job and subject.spec.get("schedulerName") in (None, "", "default-scheduler")


def allowed_values(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> frozenset[str]:
    """Return the values that node affinity allows, if they are fewer than minDomains; else an empty set."""
    if (
        subject.workload.kind == "DaemonSet"
        or subject.spec.get("nodeName")  # SPR210
        or constraint.min_domains is None
        or constraint.node_affinity_policy == IGNORE
        or not field_versions.stores("minDomains", project.target.minor)
        or not subject.is_in_its_group(constraint)
    ):
        return frozenset()
    values = pod_requirements.node_values(subject, constraint.topology_key)
    return values if values is not None and len(values) < constraint.min_domains else frozenset()
