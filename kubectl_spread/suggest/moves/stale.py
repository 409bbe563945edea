"""Waiting pods that were created from an older template of their controller."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.suggest.actions.pods import RemovePods
from kubectl_spread.suggest.change import Change, Ladder, Rank, single
from kubectl_spread.suggest.editing.recreate import current_class, differences
from kubectl_spread.suggest.problem import PendingPodProblem

_WORDS = {
    "requests": "other requests",
    "node_selector": "another nodeSelector",
    "node_affinity": "another node affinity",
    "pod_affinity": "another pod affinity",
    "pod_anti_affinity": "another pod anti-affinity",
    "constraints": "other topologySpreadConstraints",
    "tolerations": "other tolerations",
}


def propose(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Delete the waiting pods, so that their controller re-creates them from its current template."""
    pods = [pod for pod in problem.given.own if pod.owner is not None and pod.created is not None]
    if not problem.target.is_live or not pods:
        return
    changed = [pod for pod in pods if current_class(pod, problem.cluster) is not pod.cls]
    if problem.pod not in changed:
        return
    names = ", ".join(pod.name for pod in changed)
    maker = problem.pod.owner
    yield single(
        Change(
            f"delete the Pending pod {names}: the {maker.kind if maker else ''} creates it again with {_what(problem)}",
            (RemovePods(tuple(changed)),),
            "stale pod",
            Rank.MISTAKE,
        )
    )


def _what(problem: PendingPodProblem) -> str:
    pod = problem.pod
    now = current_class(pod, problem.cluster)
    fields = differences(pod.cls, now)
    words = [_WORDS[field] for field in fields if field in _WORDS]
    if "host_ports" in fields:
        gone = [str(port.port) for port in pod.cls.host_ports if port not in now.host_ports]
        words.append(f"no hostPort {', '.join(gone)}" if gone else "other host ports")
    return f"{', '.join(words)}, as its template has it now"
