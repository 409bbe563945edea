"""Running pods that a ReplicaSet deletes when it is scaled down, in every outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kubectl_spread.engine.controllers import replicaset
from kubectl_spread.engine.setup.ages import age_classes
from kubectl_spread.engine.setup.loading import stage_of
from kubectl_spread.engine.state import P
from kubectl_spread.objects.pod import Pod


class RemainingPods(NamedTuple):
    """Pods after a scale-down.

    kept: pods that stay in every outcome. tied: pods of which any `number` stay, because nothing decides between them.
    """

    kept: tuple[Pod, ...]
    tied: tuple[Pod, ...]
    number: int


def remaining_pods(pods: Sequence[Pod], replicas: int, *, read_at: str = "") -> RemainingPods:
    """Return the pods that stay if a ReplicaSet without other pods is scaled down.

    Args:
        pods: its active pods.
        replicas: the new number of pods.
        read_at: when the cluster facts were read, RFC 3339; if it is unknown, so are the ages of the pods.
    """
    nodes = {name: at for at, name in enumerate(dict.fromkeys(pod.node_name for pod in pods))}
    ages = age_classes(pods, read_at)
    states = [
        P(0, 0, at, 0, nodes[pod.node_name], stage_of(pod), age=ages.get(pod.uid, 0), cost=pod.deletion_cost)
        for at, pod in enumerate(pods)
    ]
    order = replicaset.order(states, states, max(0, len(pods) - replicas))
    tied = {state.ordinal for state in order.tied}
    gone = {state.ordinal for state in order.certain} | tied
    return RemainingPods(
        tuple(pod for at, pod in enumerate(pods) if at not in gone),
        tuple(pod for at, pod in enumerate(pods) if at in tied),
        len(order.tied) - order.left,
    )
