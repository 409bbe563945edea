"""Pods and nodes of a group as numbers, and the filters of the scheduler that depend on the group's own pods.

Nodes are numbered in the order of `Layout`. A kind is a set of pods that no filter tells apart. A gap is what the
numbers leave out. A state is `(contents, sizes, facts, desired)`:

* contents: the pods on each node as one integer, with `BITS` bits for each kind;
* sizes: the pods that controllers want of each kind;
* facts: the version of the nodes;
* desired: the wanted replicas of each workload.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.engine.controllers.deployment import DeploymentSpec
from kubectl_spread.guarantee.policy import PolicyRule
from kubectl_spread.objects.keys import ObjectKey, Range


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
    QUOTA = "quota"  # the API server may refuse pods
    STRATEGY = "strategy"  # a StatefulSet's rollout deletes several pods at a time
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


_EFFECTS = {
    GapKind.FEATURE: GapEffect.WAITS,
    GapKind.VOLUMES: GapEffect.PINNED,
    GapKind.CLAIMS: GapEffect.PINNED,
    GapKind.AFFINITY: GapEffect.PINNED,
    GapKind.SCHEDULER: GapEffect.EVERYTHING,
    GapKind.NODE_NAME: GapEffect.EVERYTHING,
    GapKind.QUOTA: GapEffect.EVERYTHING,
    GapKind.STRATEGY: GapEffect.EVERYTHING,
    GapKind.RUNNING: GapEffect.EVERYTHING,
    GapKind.COUNTED: GapEffect.COUNTS,
    GapKind.APART: GapEffect.WAITS,
    GapKind.ROOM: GapEffect.WAITS,
    GapKind.PREEMPTION: GapEffect.PREEMPTION,
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
    def is_open(self) -> bool:
        """Return whether it leaves an answer open; if not, it is an assumption."""
        return self.effect is not GapEffect.NONE

    @property
    def effect(self) -> GapEffect:
        return _EFFECTS.get(self.kind, GapEffect.NONE)


BITS: int = 12  # of a kind's number of pods on a node, in an integer
MOST_PODS: int = (1 << BITS) - 1  # of one kind


class OwnerSpec(NamedTuple):
    """A workload of the group.

    rolling: maxSurge and maxUnavailable of a rollout. is_rolled: a rollout has states of its own, with pods of two
    revisions; otherwise it only restarts pods. bounds: range of its replicas; None if it is not scaled.
    is_ordered: creates each pod once all pods before it are ready. is_judged: its pods are judged; otherwise they are
    followed only because they decide where judged pods go. partition: lowest ordinal that a rollout changes.
    is_on_delete: a rollout changes a pod only when something else deletes it. is_shard: the whole workload comes and
    goes. is_extra: it does not exist at first. first_ordinal: in the names of a StatefulSet's pods; kinds count from 0.
    """

    key: ObjectKey
    replicas: int
    rolling: DeploymentSpec = DeploymentSpec(0, 0, surge=0, unavailable=0)
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
    rolling = spec.rolling._replace(replicas=replicas, is_recreate=False)
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


class Disruption(NamedTuple):
    """A drained node, or lost domains of a key; nodes: indices."""

    is_loss: bool
    topology_key: str
    domains: tuple[str, ...]
    nodes: tuple[int, ...]

    def is_loss_of(self, rule: PolicyRule) -> bool:
        """Return whether as many domains of the key are lost as a rule says."""
        return self.is_loss and self.topology_key == rule.topology_key and len(self.domains) == rule.lost


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
        return any(gap.effect in effects for gap in self.gaps)


def count_of(content: int, kind: int) -> int:
    """Return the pods of a kind in a content."""
    return content >> (BITS * kind) & MOST_PODS


def total_of(content: int, kinds: Sequence[int]) -> int:
    """Return the pods of some kinds in a content."""
    return sum([content >> (BITS * kind) & MOST_PODS for kind in kinds])


@functools.lru_cache(maxsize=200_000)  # perf: few contents, which are asked for again and again
def matching(matches: tuple[int, ...], content: int) -> int:
    """Return the number of matching pods in a content, or the sum of what they count for."""
    return sum([(content >> (BITS * at) & MOST_PODS) * number for at, number in enumerate(matches) if number])


State = tuple[tuple[int, ...], tuple[int, ...], int, tuple[int, ...]]


def with_pod(state: State, kind: int, node: int, number: int = 1) -> State:
    """Return a state with one pod more, or fewer if `number` is -1."""
    contents = list(state[0])
    contents[node] += number << BITS * kind
    return (tuple(contents), state[1], state[2], state[3])


class TransitionKind(Enum):
    """Kind of an event."""

    PLACED = "placed"
    RESTARTED = "restarted"  # deleted, and created again unless it was one too many
    ROLLED = "rolled"  # a rollout begins
    SHRUNK = "shrunk"  # an old ReplicaSet gets a smaller size
    REMOVED = "removed"  # a pod is scaled down
    FINISHED = "finished"  # a rollout ends
    SCALED = "scaled"
    CREATED = "created"  # a shard
    DELETED = "deleted"  # a shard
    DISRUPTED = "disrupted"  # a node is drained, or a domain is lost
    EVICTED = "evicted"
    RETURNED = "returned"  # the node or domain is back


class Event(NamedTuple):
    """An event.

    kind: of the event. pods: kind of its pods, or -1. node: index, or -1. owner: of the pods. number: of pods, or the
    new number of replicas. disruption: index. order: new order of the nodes, if the event renames them. is_shrunk: the
    old ReplicaSet gets the size `number`.
    """

    kind: TransitionKind
    pods: int = -1
    node: int = -1
    owner: int = -1
    number: int = 1
    disruption: int = -1
    order: Optional[tuple[int, ...]] = None
    is_shrunk: bool = False


Next = tuple[Event, State]
