"""The page of `status -o html`: a table of all workloads, and a picture of each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Cluster, Unread
from kubectl_spread.report import documents
from kubectl_spread.report import status as table
from kubectl_spread.report.pages import page
from kubectl_spread.report.pages.workloads import ClusterPods, most_pictures, picture, rank, tone, TONES
from kubectl_spread.simulate.running.status import ConstraintState, PolicyStatus, WorkloadStatus
from kubectl_spread.text.wording import count_noun

_MOST_ROWS = 2000


def render(
    statuses: Sequence[WorkloadStatus],
    cluster: Cluster,
    source: page.PageSource,
    *,
    nothing: str = "No workloads found",
    unread: Sequence[Unread] = (),
    policy: Optional[PolicyStatus] = None,
) -> str:
    """Return the page of running workloads; `nothing` is its title if there are none."""
    pods, most = ClusterPods(cluster), most_pictures(cluster)
    ordered = sorted(statuses, key=rank)
    header = table.header(has_namespace=True, is_wide=False)
    rows = [row.cells for row in table.rows(ordered[:_MOST_ROWS], has_namespace=True, is_wide=False)]
    missing = documents.of_workloads(unread)
    return page.render(
        "status.html",
        source,
        title=_title(statuses) if statuses else nothing,
        tone=min((tone(status) for status in statuses), key=TONES.index, default="soft"),
        numbers=_tiles(statuses),
        header=header,
        rows=rows,
        more_rows=max(0, len(ordered) - _MOST_ROWS),
        workloads=[picture(status, cluster, pods) for status in ordered[:most]],
        more=max(0, len(ordered) - most),
        unread=documents.line(missing) if missing else "",
        kept_policy=None if policy is None else _policy(policy),
    )


def _policy(found: PolicyStatus) -> dict[str, Any]:
    """Return the rules of a policy on the running pods, as a table."""
    is_violated = any(item.is_violated for group in found.groups for item in group.rules)
    cells = table.policy_rows(found, has_namespace=True)
    state = "violated" if is_violated else "ok" if cells else "its groups match none of these workloads"
    title = f"Policy {found.policy.name}: {state}"
    return {"title": title, "header": table.POLICY_HEADER, "rows": cells}


def _title(statuses: Collection[WorkloadStatus]) -> str:
    troubled = sum(not status.is_fine for status in statuses)
    what = count_noun(len(statuses), "workload")
    if not troubled:
        return f"{what}: every DoNotSchedule constraint holds, and no pod is Pending"
    verbs = "violates a constraint or lacks" if troubled == 1 else "violate constraints or lack"
    return f"{what}: {troubled} {verbs} pods"


def _tiles(statuses: Collection[WorkloadStatus]) -> list[dict[str, Any]]:
    states = [item.state for status in statuses for item in status.constraints]
    pending = sum(len(status.pending) for status in statuses)
    violated = states.count(ConstraintState.VIOLATED)
    partly = states.count(ConstraintState.PARTLY_COUNTED)
    uneven = states.count(ConstraintState.UNEVEN)
    return [
        {"label": "workloads", "number": len(statuses), "tone": "soft"},
        {"label": "constraints violated", "number": violated, "tone": "bad" if violated else "good"},
        {"label": "partly counted", "number": partly, "tone": "bad" if partly else "good"},
        {"label": "uneven (allowed)", "number": uneven, "tone": "warn" if uneven else "good"},
        {"label": "pods Pending", "number": pending, "tone": "bad" if pending else "good"},
    ]
