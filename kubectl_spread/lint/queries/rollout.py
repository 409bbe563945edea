"""Rolling updates: how many new pods start before old ones stop."""

from __future__ import annotations

from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.amounts.quantity import percentage, scaled_value
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH

_DEFAULT_SURGE = "25%"

# A rollout may run a whole new revision next to the old one.
_UP_TO_TWICE = frozenset({"Rollout", "Service", "DeploymentConfig", "CloneSet", "LeaderWorkerSet"})


def surge_text(subject: Subject) -> str:
    """Return what lets new pods of a Deployment or Rollout start while old ones run; empty if nothing does.

    Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts (v1.36.2): a maxSurge above 0 is at
    least one pod. Rollouts have `strategy.canary.maxSurge`, and `blueGreen` runs both revisions in full.
    """
    if subject.is_recreated or subject.workload.kind not in ("Deployment", "Rollout"):
        return ""
    strategy = fields(fields(subject.runner.plain.get("spec")).get("strategy"))
    if "blueGreen" in strategy:
        return "blueGreen runs both revisions"
    surge = fields(strategy.get("canary" if subject.workload.kind == "Rollout" else "rollingUpdate")).get("maxSurge")
    if surge is None:
        return f"maxSurge is {_DEFAULT_SURGE} by default"
    return "" if surge in (0, "0") or percentage(surge) == 0 else f"maxSurge is {surge}"


def replaces_in_place(subject: Subject) -> bool:
    """Return whether an update stops an old pod before it makes each new one, so that there are never more pods."""
    if subject.workload.kind == "StatefulSet":
        return True
    is_rolled = subject.workload.kind in ("Deployment", "Rollout") and not subject.is_recreated
    return is_rolled and not surge_text(subject)


def surge(subject: Subject, constraint: TopologySpreadConstraint, replicas: int) -> int:
    """Return how many additional pods a rolling update runs that the constraint counts.

    Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts (v1.36.2).
    """
    kind = subject.workload.kind
    if {POD_TEMPLATE_HASH, subject.revision_label} & {*constraint.match_label_keys} & {*subject.labels}:
        return 0
    if kind in _UP_TO_TWICE:
        return replicas
    if kind != "Deployment" or subject.is_recreated:
        return 0
    surge = scaled_value(
        fields(fields(subject.controller.get("strategy")).get("rollingUpdate")).get("maxSurge"), replicas, round_up=True
    )
    return scaled_value("25%", replicas, round_up=True) or 0 if surge is None else surge
