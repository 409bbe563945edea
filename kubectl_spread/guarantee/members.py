"""Workloads of a group, further shards, and other pods that decide where the group's pods go; loads numpy.

A workload is a neighbour if a hard constraint, a required anti-affinity or a host port of the group concerns its pods,
or the reverse. So are neighbours of a neighbour. They are simulated as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, Optional

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.build import stored_workload
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.ownership import OwnedPods, workload_of
from kubectl_spread.cluster.snapshot import Cluster, Controller
from kubectl_spread.containers import grouped, tied
from kubectl_spread.guarantee.model import Gap, GapKind
from kubectl_spread.guarantee.policy import GroupSpec
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import compile_selector, Selector
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import Constraint
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread


class Member(NamedTuple):
    """A workload of a group, as it is stored; bounds: range of its replicas.

    is_judged: its pods are judged. Otherwise they are followed only because they decide where judged pods go. shards:
    range of the number of workloads in its group, each of which is a shard; None if their number is constant. is_extra:
    a shard that does not exist at first.
    """

    key: ObjectKey
    controller: Controller
    bounds: Optional[Range] = None
    is_judged: bool = True
    shards: Optional[Range] = None
    is_extra: bool = False


def member_of(key: ObjectKey, controller: Controller, cluster: Cluster, *, is_judged: bool = True) -> Member:
    """Return a workload with the range of its autoscaler."""
    scaler = cluster.autoscalers.get(key)
    bounds = None if scaler is None else Range(scaler.min_replicas, scaler.max_replicas)
    return Member(key, controller, bounds, is_judged)


def groups_of(spec: GroupSpec, members: Iterable[Member]) -> list[list[Member]]:
    """Return the groups of a specification, with the ranges of their replicas or of the number of workloads.

    Without a selector, workloads whose constraints count each other's pods are one group.
    """
    found = []
    for member in members:
        labels = dict(_pod_class(member).labels)
        if spec.namespace in ("", member.key.namespace) and (spec.selector is None or spec.selector.matches(labels)):
            bounds = None if spec.shards is not None else spec.replicas or member.bounds
            found.append(member._replace(bounds=bounds, shards=spec.shards))
    if spec.is_each:
        return [[member] for member in found]
    if spec.selector is not None:
        return list(grouped((member.key.namespace, member) for member in found).values())
    pairs = combinations(enumerate(map(_pod_class, found)), 2)
    ties = ((at, other) for (at, one), (other, two) in pairs if _counts(one, two) or _counts(two, one))
    return [[found[at] for at in group] for group in tied(range(len(found)), ties)]


def _counts(cls: PodClass, other: PodClass) -> bool:
    """Return whether a constraint of one pod counts another."""
    if cls.namespace != other.namespace:
        return False
    selectors = [compile_selector(item.label_selector) for item in cls.constraints]
    return any(not item.is_empty and item.matches(dict(other.labels)) for item in selectors)


def _pod_class(member: Member) -> PodClass:
    return replica(member.controller.workload, 0).cls


class UnplacedPods(NamedTuple):
    """Pods of a workload that is not followed and that are not placed yet."""

    key: ObjectKey
    cls: PodClass
    number: int


class Surroundings(NamedTuple):
    """The other pods around a group.

    followed: neighbours. gaps: other pods that matter and are not followed. unplaced: pods of other workloads that
    may take room.
    """

    followed: tuple[Member, ...] = ()
    gaps: tuple[Gap, ...] = ()
    unplaced: tuple[UnplacedPods, ...] = ()


ALONE = Surroundings()


def surroundings(members: Sequence[Member], cluster: Cluster, profiles: Mapping[str, Profile]) -> Surroundings:
    """Return the other pods around a group."""
    return _Finder(members, cluster, profiles).surroundings()


class _Finder:
    def __init__(self, members: Sequence[Member], cluster: Cluster, profiles: Mapping[str, Profile]) -> None:
        self._cluster = cluster
        self._profiles = profiles
        self._columns = Columns(cluster._replace(pods=()))
        self._minor = next(iter(profiles.values())).minor
        self._owned = OwnedPods(cluster)
        own = {member.key for member in members}
        self._classes = {member.key: self._class_of(member) for member in members}
        self._others = {
            key: member_of(key, controller, cluster, is_judged=False)
            for key, controller in sorted(cluster.controllers.items())
            if key not in own and key not in cluster.owners
        }
        self._other_classes = {key: self._class_of(member) for key, member in self._others.items()}

    def _class_of(self, member: Member) -> PodClass:
        workload = stored_workload(member.controller.workload, self._cluster, self._minor)
        return replica(workload, 0).cls

    def surroundings(self) -> Surroundings:
        """Follow the neighbours, and theirs."""
        followed = dict(self._classes)
        queue = list(followed.values())
        gaps: dict[Gap, None] = {}
        while queue:
            cls = queue.pop()
            for key, other in self._other_classes.items():
                kind = None if key in followed else self._concerns(cls, other)
                if kind is not None and key.kind in REPLICATED_KINDS:
                    followed[key] = other
                    queue.append(other)
        own = {pod.uid for key in followed for pod in self._owned.of(key)}
        visible = (pod for pod in self._cluster.pods if pod.is_visible and not pod.terminating)
        foreign = [pod for pod in visible if pod.uid not in own]  # No followed workload owns them.
        for key, cls in followed.items():
            for gap in self._gaps(key, cls, followed, foreign):
                gaps[gap] = None
        neighbours = tuple(self._others[key] for key in followed if key in self._others)
        return Surroundings(neighbours, tuple(gaps), tuple(self._unplaced(followed, foreign)))

    def _gaps(
        self, key: ObjectKey, cls: PodClass, followed: Mapping[ObjectKey, PodClass], foreign: Iterable[Pod]
    ) -> Iterator[Gap]:
        """Yield the gaps of a followed workload, those of the same kind together."""
        by_kind: dict[GapKind, dict[ObjectKey, None]] = {}
        for other, theirs in self._other_classes.items():
            kind = None if other in followed else self._concerns(cls, theirs)
            if kind is not None:
                by_kind.setdefault(kind, {})[other] = None
        for pod in foreign:
            kind = self._concerns(cls, pod.cls)
            if kind is GapKind.COUNTED or (kind is not None and not pod.node_name):
                by_kind.setdefault(kind, {})[workload_of(pod, self._cluster)] = None
        for kind, others in by_kind.items():
            yield Gap(kind, key, tuple(sorted(others)))

    def _unplaced(self, followed: Mapping[ObjectKey, PodClass], foreign: Iterable[Pod]) -> Iterator[UnplacedPods]:
        for key, member in self._others.items():
            if key in followed:
                continue
            wanted = member.controller.workload.replicas or 0
            running = sum(1 for pod in self._owned.of(key) if pod.node_name and pod.is_visible)
            if key.kind == "DaemonSet":
                if running < len(self._cluster.nodes):
                    yield UnplacedPods(key, self._other_classes[key], 1)
            elif wanted > running:
                yield UnplacedPods(key, self._other_classes[key], wanted - running)
        for pod in foreign:
            if not pod.node_name and pod.owner is None:
                yield UnplacedPods(ObjectKey("Pod", pod.namespace, pod.name), pod.cls, 1)

    # Relations of two pods.

    def _concerns(self, cls: PodClass, other: PodClass) -> Optional[GapKind]:
        """Return how another pod matters for a pod; None if it does not."""
        labels = dict(other.labels)
        if cls.namespace == other.namespace and any(item.matches(labels) for item in self._hard(cls)):
            return GapKind.COUNTED
        if self._repels(cls, other) or self._repels(other, cls):
            return GapKind.APART
        if any(one.conflicts(item) for one in cls.host_ports for item in other.host_ports):
            return GapKind.APART
        return None

    def _repels(self, cls: PodClass, other: PodClass) -> bool:
        namespace = self._cluster.namespaces.get(other.namespace, {})
        labels = dict(other.labels)
        return any(term.matches(other.namespace, labels, namespace) for term in cls.pod_anti_affinity)

    @cached_method
    def _hard(self, cls: PodClass) -> tuple[Selector, ...]:
        found = hard_constraints(cls, self._columns, self._profiles)
        return tuple(item.selector for item in found if not item.selector.is_empty)


def hard_constraints(cls: PodClass, columns: Columns, profiles: Mapping[str, Profile]) -> tuple[Constraint, ...]:
    """Return the hard constraints of a pod, the cluster's defaults if it has none."""
    profile = profiles.get(cls.scheduler_name)
    plugin = profile and profile.plugin(PodTopologySpread)
    return plugin.constraints(cls, columns, hard=True) if plugin else ()


_NUMBERED = re.compile(r"(.*?)([0-9]+)\Z")


def more_shards(members: Sequence[Member], number: int) -> list[Member]:
    """Return further shards like the last one, under new names and with labels of their own."""
    taken = {member.key.name for member in members}
    found: list[Member] = []
    model = members[-1]
    own = _own_labels(members)
    for at in range(number):
        name = _next_name(model.key.name, taken)
        taken.add(name)
        found.append(_copy(model, name, _renamed(own, model.key.name, name, number=len(members) + at)))
    return found


def _own_labels(members: Sequence[Member]) -> dict[str, str]:
    """Return the labels of the last shard's pods whose values identify the shard."""
    written = [fields(item.controller.workload.template, "metadata", "labels") for item in members]
    *others, model = ({key: value for key, value in item.items() if isinstance(value, str)} for item in written)
    if not others:
        return {key: value for key, value in model.items() if members[0].key.name in value}
    return {key: value for key, value in model.items() if any(item.get(key) != value for item in others)}


def _next_name(name: str, taken: set[str]) -> str:
    """Return the name with the next free number at its end."""
    match = _NUMBERED.match(name)
    stem, number = (match[1], int(match[2])) if match else (f"{name}-", 1)
    while f"{stem}{number}" in taken or f"{stem}{number}" == name:
        number += 1
    return f"{stem}{number}"


def _renamed(own: Mapping[str, str], name: str, other: str, *, number: int) -> dict[str, tuple[str, str]]:
    """Return old and new value of each label that identifies a shard."""
    match = _NUMBERED.match(other)
    last = match[2] if match else str(number)
    found = {}
    for key, value in own.items():
        by_number = _NUMBERED.match(value)
        if name in value:
            found[key] = (value, value.replace(name, other))
        else:
            found[key] = (value, f"{by_number[1]}{last}" if by_number else f"{value}-{last}")
    return found


def _copy(model: Member, name: str, renamed: Mapping[str, tuple[str, str]]) -> Member:
    workload = model.controller.workload
    changed = workload._replace(
        name=name, template=_changed(workload.template, renamed), selector=_changed(workload.selector, renamed)
    )
    spec = {**_changed(model.controller.spec, renamed), "template": changed.template}
    controller = model.controller._replace(workload=changed, spec=spec)
    return model._replace(key=model.key._replace(name=name), controller=controller, is_extra=True)


def _changed(value: Any, renamed: Mapping[str, tuple[str, str]]) -> Any:
    """Return a value with other labels, in `labels` and in selectors."""
    if isinstance(value, list):
        return [_changed(item, renamed) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: _changed(item, renamed) for key, item in value.items()}
    for place in ("labels", "matchLabels"):
        if isinstance(made.get(place), dict):
            made[place] = {key: _new(key, item, renamed) for key, item in made[place].items()}
    if "operator" in made and isinstance(made.get("values"), list):
        made["values"] = [_new(made.get("key"), item, renamed) for item in made["values"]]
    return made


def _new(key: Any, value: Any, renamed: Mapping[str, tuple[str, str]]) -> Any:
    old, new = renamed.get(key, (None, None))
    return new if value == old and new is not None else value
