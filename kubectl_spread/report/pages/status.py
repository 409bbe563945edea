"""The page of `status -o html`: a table of all workloads, and a picture of each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Cluster, Unread
from kubectl_spread.report import documents
from kubectl_spread.report import status as table
from kubectl_spread.report.pages import drawing, page
from kubectl_spread.report.pages.drawing import draw
from kubectl_spread.report.pages.pods import ClusterPods, map_key
from kubectl_spread.simulate.running.policies import PolicyStatus
from kubectl_spread.simulate.running.status import ConstraintState, WorkloadStatus
from kubectl_spread.text.wording import count_noun

_MOST_PICTURES = 60
_MOST_NODES = 150_000  # in all pictures of a page together
_MOST_ROWS = 2000
_MOST_MESSAGES = 3
_ORDER = {"bad": 0, "warn": 1, "good": 2, "soft": 3}


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
        tone=min((tone(status) for status in statuses), key=_ORDER.__getitem__, default="soft"),
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


def most_pictures(cluster: Cluster) -> int:
    """Return the number of pictures on a page: fewer in large clusters, so that a page takes a few seconds."""
    return max(10, min(_MOST_PICTURES, _MOST_NODES // max(1, len(cluster.nodes))))


def picture(status: WorkloadStatus, cluster: Cluster, pods: ClusterPods) -> dict[str, Any]:
    """Return the drawing of a workload and the charts of its constraints, for the macro `workload`."""
    key = map_key(status.constraints, cluster.nodes)
    words = table.state_text(worst(status), status)
    return {
        "name": f"{status.key.kind.lower()}/{status.key.name}",
        "namespace": status.key.namespace,
        "badge": words or "no constraints",
        "tone": tone(status),
        "numbers": _numbers(status),
        "drawing": draw(key, pods.nodes(key), pods.drawn_pods(status.key, status.constraints)),
        "charts": [drawing.chart(item) for item in status.constraints],
        "messages": _messages(status),
        "why": status.why,
        "lines": [],
    }


def rank(status: WorkloadStatus) -> int:
    """Return the place of a workload on a page: those with problems come first."""
    return _ORDER[tone(status)]


def worst(status: WorkloadStatus) -> Optional[ConstraintState]:
    """Return the worst state of a workload's constraints."""
    states = [item.state for item in status.constraints]
    return min(states, key=lambda state: _ORDER[drawing.badge(state)[1]], default=None)


def tone(status: WorkloadStatus) -> str:
    """Return good, warn, bad or soft."""
    if not status.is_fine:
        return "bad"
    state = worst(status)
    return "soft" if state is None else drawing.badge(state)[1]


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


def _numbers(status: WorkloadStatus) -> str:
    wanted = status.running if status.wanted is None else status.wanted
    of = "" if status.wanted is None else f"{status.running} of "
    parts = [f"{of}{count_noun(wanted, 'pod')} on a node"]
    parts += [f"{status.terminating} terminating"] if status.terminating else []
    parts += [f"{len(status.pending)} Pending"] if status.pending else []
    return ", ".join(parts)


def _messages(status: WorkloadStatus) -> list[dict[str, Any]]:
    """Return the scheduler's messages about Pending pods, with the number of their pods."""
    found: dict[str, int] = {}
    for pod in status.pending:
        found[pod.message] = found.get(pod.message, 0) + 1
    if status.uncreated is not None:
        found[status.uncreated.message] = status.uncreated.number
    return [{"text": text, "pods": count_noun(number, "pod")} for text, number in found.items() if text][
        :_MOST_MESSAGES
    ]
