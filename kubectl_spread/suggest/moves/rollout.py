"""Rollout settings of a Deployment: deleting an old pod first makes room for a new one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kubectl_spread.objects.pod import Pod
from kubectl_spread.suggest.actions.manifest import SetRollout
from kubectl_spread.suggest.change import Change, Ladder, Rank, single
from kubectl_spread.suggest.problem import PendingPodProblem

TITLE = "set maxSurge: 0 and maxUnavailable: 1, so that an old pod is deleted before a new one is created"
GIVES_UP = "one replica is missing while a rollout lasts"


def deleting_first(problem: PendingPodProblem, change: Change, deleted: tuple[Pod, ...] = ()) -> Iterator[Change]:
    """Yield a change with a rollout that deletes old pods before it creates new ones, one at a time or more.

    Pods that wait count as unavailable, so that one more may have to be. `deleted` are pods that go first.
    """
    for unavailable in dict.fromkeys((1, problem.given.pending + 1)):
        title, gives_up = TITLE, GIVES_UP
        if unavailable > 1:
            title = (
                f"set maxSurge: 0 and maxUnavailable: {unavailable}, so that old pods are deleted before new ones are "
                "created"
            )
            gives_up = f"{unavailable} replicas may be missing while a rollout lasts"
        yield change._replace(
            title=f"{change.title}, and {title}",
            actions=(*change.actions, SetRollout(deleted, unavailable)),
            gives_up="; ".join(filter(None, (change.gives_up, gives_up))),
        )


def propose(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Let a rollout delete an old pod before it creates a new one."""
    for deleted in first_pod_to_delete(problem):
        yield single(Change(TITLE, (SetRollout((deleted,)),), "rollout", Rank.ROLLOUT, gives_up=GIVES_UP))


def is_stuck_for_room(problem: PendingPodProblem, change: Change) -> bool:
    """Return whether a rollout of the change could lack room because new pods run next to old ones."""
    is_rolled_out = problem.owner.kind == "Deployment" and change.edits_template and problem.target.is_live
    has_settings = any(isinstance(action, SetRollout) for action in change.actions)
    return (
        is_rolled_out
        and not has_settings
        and change.family not in ("rollout", "matchLabelKeys")
        and problem.rollout.may_surge
    )


def first_pod_to_delete(problem: PendingPodProblem) -> Iterator[Pod]:
    """Yield the pod of the old revision that its controller would delete first; none if no old revision runs.

    Of ready pods, the controller deletes first the ones that share a node with most others, and of these the youngest.
    Source: pkg/controller/controller_utils.go, ActivePodsWithRanks (v1.36.2).
    """
    label = problem.revision_label
    if not problem.rollout.may_surge:
        return
    if problem.owner.kind != "Deployment" or not label:
        return
    own = dict(problem.pod.cls.labels).get(label)
    old = [pod for pod in problem.given.running if dict(pod.cls.labels).get(label) not in (None, own)]
    if old:
        yield first_deleted(old)


def first_deleted(pods: Sequence[Pod]) -> Pod:
    """Return the pod that a ReplicaSet deletes first, if all are ready."""
    ranks = Counter(pod.node_name for pod in pods)
    return max(pods, key=lambda pod: (ranks[pod.node_name], pod.created, pod.name))
