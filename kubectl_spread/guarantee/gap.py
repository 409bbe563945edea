"""Features and other pods that proofs leave out, and the rules that stay open because of them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.objects.keys import ObjectKey


class GapEffect(Enum):
    """Answers that a gap leaves open."""

    NONE = "none"  # an assumption, which the answer names
    WAITS = "waits"  # whether every pod finds a node cannot be proved
    PINNED = "pinned"  # as WAITS, and a pod may be unable to go where a violation needs it
    COUNTS = "counts"  # constraints and visited states limit nothing, and prove nothing
    PREEMPTION = "preemption"  # a pod that finds no node may make room
    EVERYTHING = "everything"  # nothing is proved or refuted, but that there are not more pods


class GapKind(Enum):
    """Kind of a gap."""

    FEATURE = "feature"
    VOLUMES = "volumes"  # the volumes of a StatefulSet keep its pods in the zones of their first nodes
    CLAIMS = "claims"  # volumes that exist or that pods share keep the pods in some zones
    AFFINITY = "affinity"  # required pod affinity
    SCHEDULER = "scheduler"  # another scheduler
    NODE_NAME = "nodeName"  # the scheduler is bypassed
    RUNNING = "running"  # the pods that run now cannot be distinguished, or are too many
    COUNTED = "counted"  # constraints count pods that are not followed
    APART = "apart"  # anti-affinity or a host port keeps the pods from others that are not followed
    ROOM = "room"  # other pods that are not placed yet may take the room
    PREEMPTION = "preemption"
    STAYING = "staying"  # other pods are taken to stay where they are
    ONE_ROLLOUT = "oneRollout"  # a second rollout does not begin during the first
    TERMINATING = "terminating"  # deleted pods run for a while next to their replacements, and do not count
    LOST_ORDINALS = "lostOrdinals"  # pods of a StatefulSet keep their names on lost nodes
    NO_RANGE = "noRange"  # replicas without a range are not scaled
    SAME_CONSTRAINTS = "sameConstraints"  # the constraints do not change with the number of shards


EFFECTS = {
    GapKind.FEATURE: GapEffect.WAITS,
    GapKind.VOLUMES: GapEffect.PINNED,
    GapKind.CLAIMS: GapEffect.PINNED,
    GapKind.AFFINITY: GapEffect.PINNED,
    GapKind.SCHEDULER: GapEffect.EVERYTHING,
    GapKind.NODE_NAME: GapEffect.EVERYTHING,
    GapKind.RUNNING: GapEffect.EVERYTHING,
    GapKind.COUNTED: GapEffect.COUNTS,
    GapKind.APART: GapEffect.WAITS,
    GapKind.ROOM: GapEffect.WAITS,
    GapKind.PREEMPTION: GapEffect.PREEMPTION,
    GapKind.STAYING: GapEffect.NONE,
    GapKind.ONE_ROLLOUT: GapEffect.NONE,
    GapKind.TERMINATING: GapEffect.NONE,
    GapKind.LOST_ORDINALS: GapEffect.NONE,
    GapKind.NO_RANGE: GapEffect.NONE,
    GapKind.SAME_CONSTRAINTS: GapEffect.NONE,
}


class Gap(NamedTuple):
    """A feature, or other pods, that are not followed.

    owner: workload whose pods it concerns. others: other workloads or pods. what: a feature, in words. number: of
    other pods, or of seconds.
    """

    kind: GapKind
    owner: Optional[ObjectKey] = None
    others: tuple[ObjectKey, ...] = ()
    what: str = ""
    number: int = 0

    @property
    def effect(self) -> GapEffect:
        return EFFECTS[self.kind]


def has_effect(gaps: Iterable[Gap], *effects: GapEffect) -> bool:
    """Return whether some gap has one of these effects."""
    return any(gap.effect in effects for gap in gaps)
