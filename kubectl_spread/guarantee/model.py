"""Pods and nodes of a group as numbers: the filters of the scheduler that depend on the group's own pods.

Nodes are numbered in the order of `Layout`. A kind is a set of pods that no filter tells apart.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.engine.controllers.deployment import DeploymentSpec
from kubectl_spread.guarantee.gap import Gap, GapEffect, has_effect
from kubectl_spread.objects.keys import ObjectKey, Range

BITS: int = 12  # of a kind's number of pods on a node, in an integer
MOST_PODS: int = (1 << BITS) - 1  # of one kind


class OwnerSpec(NamedTuple):
    """A workload of the group.

    surge, unavailable: of a rollout, as written. is_rolled: a rollout has states of its own, with pods of two
    revisions; otherwise it only restarts pods. bounds: range of its replicas; None if it is not scaled.
    is_ordered: creates each pod once all pods before it are ready. is_judged: its pods are judged; otherwise they are
    followed only because they decide where judged pods go. partition: lowest ordinal that a rollout changes.
    is_on_delete: a rollout changes a pod only when something else deletes it. is_shard: the whole workload comes and
    goes. is_extra: it does not exist at first. first_ordinal: in the names of a StatefulSet's pods; kinds count from 0.
    """

    key: ObjectKey
    replicas: int
    surge: object = 0
    unavailable: object = 0
    is_rolled: bool = False
    bounds: Optional[Range] = None
    is_stateful: bool = False
    is_ordered: bool = False
    is_judged: bool = True
    partition: int = 0
    is_on_delete: bool = False
    is_shard: bool = False
    is_extra: bool = False
    first_ordinal: int = 0

    @property
    def first(self) -> int:
        """Return the replicas that are wanted at first."""
        return 0 if self.is_extra else self.replicas

    @property
    def most(self) -> int:
        """Return the most replicas that are ever wanted."""
        return self.replicas if self.bounds is None else max(self.replicas, self.bounds.most)

    @property
    def least(self) -> int:
        """Return the fewest replicas that are ever wanted, while the workload exists."""
        return self.replicas if self.bounds is None else min(self.replicas, self.bounds.least)


@functools.lru_cache(maxsize=4096)
def fenceposts(spec: OwnerSpec, replicas: int) -> tuple[int, int]:
    """Return the surge and the unavailable pods of a rollout, for a number of replicas."""
    rolling = DeploymentSpec(replicas, 0, spec.surge, spec.unavailable)
    return rolling.max_surge, rolling.max_unavailable


def most_at_once(spec: OwnerSpec, replicas: int) -> int:
    """Return the most pods of a Deployment that can run during a rollout.

    A Deployment makes the new ReplicaSet larger and the old one smaller. The scheduler may place a new pod before the
    old ReplicaSet deletes a pod. Each ReplicaSet has at most `replicas` pods.
    """
    surge, unavailable = fenceposts(spec, replicas)
    return replicas + min(replicas, 2 * surge + unavailable)


class Kind(NamedTuple):
    """Pods that no filter tells apart: of a workload, of one of its revisions, or of one ordinal.

    owner: index of the workload. is_new: of the new revision of a rollout. ordinal: -1 for all ordinals together. In a
    workload with ordinals, a new kind without one has no pods: its size is 1 during a rollout.
    """

    owner: int
    is_new: bool = False
    ordinal: int = -1


class Spread(NamedTuple):
    """A hard spread constraint of a kind.

    domain_of: domain of each node, -1 without the label. counted: nodes whose pods count. eligible: domains with a
    counted node. is_below: fewer eligible domains than minDomains. matches: kinds that it counts. base: pods of other
    workloads that it counts, by domain.
    """

    topology_key: str
    max_skew: int
    domain_of: tuple[int, ...]
    counted: tuple[int, ...]
    eligible: tuple[int, ...]
    is_below: bool
    matches: tuple[bool, ...]
    self_match: int
    base: tuple[int, ...]
    min_domains: int = 1


class Separation(NamedTuple):
    """A required anti-affinity or a host port: no pod of some kinds in the same domain.

    domain_of: domain of each node, -1 where it does not apply. matches: kinds that it keeps away.
    """

    topology_key: str
    domain_of: tuple[int, ...]
    matches: tuple[bool, ...]


class KindFilters(NamedTuple):
    """Filters for one kind; allowed: nodes that pass all filters that do not depend on the group's pods."""

    allowed: tuple[int, ...]
    spreads: tuple[Spread, ...] = ()
    separations: tuple[Separation, ...] = ()
    requests: tuple[int, ...] = ()


class Filters(NamedTuple):
    """Filters of all kinds on one version of the nodes; free: room by node and resource."""

    of_kind: tuple[KindFilters, ...]
    free: tuple[tuple[int, ...], ...] = ()
    resources: tuple[str, ...] = ()


class LossKind(Enum):
    """Kind of a disruption."""

    DRAIN = "drain"
    LOSS = "loss"


class Disruption(NamedTuple):
    """A drained node, or lost domains of a key; nodes: indices."""

    kind: LossKind
    topology_key: str
    domains: tuple[str, ...]
    nodes: tuple[int, ...]


class Layout(NamedTuple):
    """Nodes and domains; domain_of: by key, the domain of each node, -1 without the label."""

    nodes: tuple[str, ...]
    domain_of: dict[str, tuple[int, ...]]
    values: dict[str, tuple[str, ...]]


class PlacedPod(NamedTuple):
    """A pod that runs now; ordinal: of a StatefulSet's pod, else -1."""

    kind: int
    node: int
    ordinal: int = -1


class GroupModel(NamedTuple):
    """A group of workloads, with the neighbours that decide where its pods go.

    placed: pods that run now. gaps: features and other pods that are not followed.
    shards: range of the number of judged workloads; None if it is constant.
    """

    name: str
    owners: tuple[OwnerSpec, ...]
    kinds: tuple[Kind, ...]
    layout: Layout
    placed: tuple[PlacedPod, ...] = ()
    gaps: tuple[Gap, ...] = ()
    shards: Optional[Range] = None

    @property
    def judged_kinds(self) -> tuple[int, ...]:
        """Return the kinds whose pods are judged."""
        return tuple(at for at, kind in enumerate(self.kinds) if self.owners[kind.owner].is_judged)

    @property
    def judged_replicas(self) -> int:
        """Return the replicas of the judged workloads."""
        return sum(owner.first for owner in self.owners if owner.is_judged)

    @property
    def fewest(self) -> int:
        """Return the fewest judged replicas at any time."""
        each = sorted(owner.least for owner in self.owners if owner.is_judged)
        return sum(each) if self.shards is None else min(self.judged_replicas, sum(each[: self.shards.least]))

    @property
    def most(self) -> int:
        """Return the most judged replicas at any time."""
        return sum(owner.most for owner in self.owners if owner.is_judged)

    @property
    def numbers(self) -> Sequence[int]:
        """Return the numbers of judged replicas that may be wanted."""
        each = {owner.replicas for owner in self.owners if owner.is_judged}
        return range(self.fewest, self.most + 1, each.pop() if self.shards and len(each) == 1 else 1)

    def has_gap(self, *effects: GapEffect) -> bool:
        """Return whether a gap has one of these effects."""
        return has_effect(self.gaps, *effects)


def count_of(content: int, kind: int) -> int:
    """Return the pods of a kind in a content."""
    return content >> (BITS * kind) & MOST_PODS


def total_of(content: int, kinds: Sequence[int]) -> int:
    """Return the pods of some kinds in a content."""
    return sum([content >> (BITS * kind) & MOST_PODS for kind in kinds])


class Alive:
    """The most pods that run or wait at a time during a regime."""

    def __init__(self, group: GroupModel, *, has_surge: bool, is_scaled: bool) -> None:
        self._group = group
        self._has_surge = has_surge
        self._is_scaled = is_scaled

    def __call__(self, kinds: Iterable[int]) -> int:
        """Return the most pods of some kinds together."""
        by_owner: dict[int, list[Kind]] = {}
        for at in kinds:
            kind = self._group.kinds[at]
            by_owner.setdefault(kind.owner, []).append(kind)
        return sum(self._of(self._group.owners[owner], mine) for owner, mine in by_owner.items())

    def _of(self, spec: OwnerSpec, kinds: list[Kind]) -> int:
        most = spec.most if self._is_scaled else spec.replicas
        if any(kind.ordinal >= 0 for kind in kinds):
            return len({kind.ordinal for kind in kinds if 0 <= kind.ordinal < most})
        has_both = len({kind.is_new for kind in kinds}) > 1
        return most_at_once(spec, most) if self._has_surge and has_both else most
