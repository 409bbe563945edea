"""Rolling updates: whether new pods start before old ones stop."""

from __future__ import annotations

from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.int_or_percent import percentage
from kubectl_spread.objects.plain import fields

_DEFAULT_SURGE = "25%"


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
