"""Matching pods of a constraint: their workloads, their revisions, and the pods that do not count."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.cluster.tables.columns import Columns, unique
from kubectl_spread.explain.constraints.node_reasons import NodeReasons
from kubectl_spread.explain.requirements.capacity import Indices
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import NodeReason
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts

MOST_NAMES = 5

# Labels that distinguish the revisions of a workload.
REVISION_LABELS = ("pod-template-hash", "rollouts-pod-template-hash", "controller-revision-hash")


class CountedPods(NamedTuple):
    """Pods of one workload that a domain counts.

    owner: None for pods without a controller. is_own: whether the explained pod has the same owner. names: of some of
    the pods. revisions: the number of pods for each value of the revision label.
    """

    owner: Optional[ObjectKey]
    is_own: bool
    number: int
    names: tuple[str, ...]
    revisions: tuple[tuple[str, int], ...] = ()


class TerminatingPod(NamedTuple):
    """A matching pod that does not count because it was deleted, with the time and the reason it still exists."""

    name: str
    node: str
    since: str
    finalizers: tuple[str, ...]


class IgnoredPods(NamedTuple):
    """Matching pods that do not count, because their nodes are not counted; names of some of both."""

    why: Optional[NodeReason]
    number: int
    names: tuple[str, ...]
    node_names: tuple[str, ...]
    nodes: int


class MatchingPods(NamedTuple):
    """The pods that the selector of one constraint matches, by the domain's code.

    `other_namespaces`: matching pods by namespace, which no constraint counts. `terminating`: some of the terminating
    pods of each counted domain; `terminating_number`: how many there are.
    """

    counted: dict[int, tuple[CountedPods, ...]]
    terminating: dict[int, tuple[TerminatingPod, ...]]
    terminating_number: dict[int, int]
    ignored: tuple[IgnoredPods, ...]
    other_namespaces: tuple[tuple[str, int], ...]


NO_PODS = MatchingPods({}, {}, {}, (), ())


def matching_pods(counts: DomainCounts, cls: PodClass, columns: Columns, why_not: NodeReasons) -> MatchingPods:
    """Return every bound pod that the selector matches; the empty selector counts none."""
    selector = counts.constraint.selector
    groups = columns.groups
    if selector.is_empty or not groups:
        return NO_PODS
    matches = np.array([selector.matches(dict(group.labels)) for group in groups], np.bool_)
    here = np.array([group.namespace == cls.namespace for group in groups], np.bool_)
    ending = np.array([group.terminating for group in groups], np.bool_)
    pods: Indices = np.flatnonzero(matches[columns.bound_groups])
    of, on = columns.bound_groups[pods], columns.bound_nodes[pods]
    is_counted, is_here, is_ending = counts.included[on], here[of], ending[of]
    gone = pods[is_here & is_ending & is_counted]
    return MatchingPods(
        _counted(pods[is_here & ~is_ending & is_counted], counts, cls, columns),
        *_terminating(gone, counts, columns),
        _ignored(pods[is_here & ~is_ending & ~is_counted], columns, why_not),
        _by_namespace(pods[~is_here & ~is_ending], columns),
    )


def _counted(
    pods: Indices, counts: DomainCounts, cls: PodClass, columns: Columns
) -> dict[int, tuple[CountedPods, ...]]:
    own = owner_of(cls, columns.cluster)
    owners: dict[int, Optional[ObjectKey]] = {}
    found: dict[int, dict[Optional[ObjectKey], _Sum]] = {}
    for domain, class_at, run in _runs(pods, counts, columns):
        if class_at not in owners:
            owners[class_at] = owner_of(columns.classes[class_at], columns.cluster)
        found.setdefault(domain, {}).setdefault(owners[class_at], _Sum()).add(run, columns.classes[class_at], columns)
    return {
        domain: tuple(
            total.counted_pods(owner, is_own=owner == own)
            for owner, total in sorted(
                of_owners.items(), key=lambda item: (item[0] != own, -item[1].number, item[0] or ("", "", ""))
            )
        )
        for domain, of_owners in found.items()
    }


def _runs(pods: Indices, counts: DomainCounts, columns: Columns) -> Iterator[tuple[int, int, Indices]]:
    """Yield the pods of each domain and class, in the order they were bound."""
    domains, classes = counts.topology.codes[columns.bound_nodes[pods]], columns.bound_classes[pods]
    order = np.lexsort((pods, classes, domains))
    pods, domains, classes = pods[order], domains[order], classes[order]
    starts = np.flatnonzero(np.diff(domains, prepend=-1) | np.diff(classes, prepend=-1))
    for start, end in itertools.pairwise([*starts.tolist(), len(pods)]):
        yield int(domains[start]), int(classes[start]), pods[start:end]


class _Sum:
    """Pods of one workload in one domain."""

    def __init__(self) -> None:
        self.number = 0
        self._names: list[str] = []
        self._revisions: dict[str, int] = {}

    def add(self, pods: Indices, cls: PodClass, columns: Columns) -> None:
        self.number += len(pods)
        wanted = MOST_NAMES - len(self._names)
        self._names += [columns.bound_pods[at].name for at in pods[:wanted].tolist()]
        revision = revision_of(cls)
        if revision:
            self._revisions[revision] = self._revisions.get(revision, 0) + len(pods)

    def counted_pods(self, owner: Optional[ObjectKey], *, is_own: bool) -> CountedPods:
        return CountedPods(owner, is_own, self.number, tuple(self._names), tuple(sorted(self._revisions.items())))


def revision_of(cls: PodClass) -> str:
    """Return the revision of a pod's workload; empty if no label has it."""
    labels = dict(cls.labels)
    return next((labels[key] for key in REVISION_LABELS if key in labels), "")


def _terminating(
    pods: Indices, counts: DomainCounts, columns: Columns
) -> tuple[dict[int, tuple[TerminatingPod, ...]], dict[int, int]]:
    found: dict[int, list[TerminatingPod]] = {}
    numbers: dict[int, int] = {}
    for at in pods.tolist():
        node = int(columns.bound_nodes[at])
        domain = int(counts.topology.codes[node])
        numbers[domain] = numbers.get(domain, 0) + 1
        if numbers[domain] <= MOST_NAMES:
            pod: Pod = columns.bound_pods[at]
            terminating = TerminatingPod(pod.name, columns.nodes[node].name, pod.deleted, pod.finalizers)
            found.setdefault(domain, []).append(terminating)
    return {domain: tuple(of_domain) for domain, of_domain in found.items()}, numbers


def _ignored(pods: Indices, columns: Columns, why_not: NodeReasons) -> tuple[IgnoredPods, ...]:
    on = columns.bound_nodes[pods]
    codes = why_not.codes[on]
    found = []
    for code, number in zip(*(part.tolist() for part in np.unique(codes, return_counts=True)), strict=True):
        of_reason = codes == code
        first = pods[of_reason][:MOST_NAMES].tolist()
        nodes = unique(on[of_reason])
        found.append(
            IgnoredPods(
                why_not.reasons[code] if code >= 0 else None,
                number,
                tuple(columns.bound_pods[at].name for at in first),
                tuple(columns.nodes[at].name for at in nodes[:MOST_NAMES].tolist()),
                len(nodes),
            )
        )
    return tuple(sorted(found, key=lambda item: -item.number))


def _by_namespace(pods: Indices, columns: Columns) -> tuple[tuple[str, int], ...]:
    numbers: dict[str, int] = {}
    groups = columns.groups
    for group, number in zip(
        *(part.tolist() for part in np.unique(columns.bound_groups[pods], return_counts=True)), strict=True
    ):
        namespace = groups[group].namespace
        numbers[namespace] = numbers.get(namespace, 0) + number
    return tuple(sorted(numbers.items(), key=lambda item: (-item[1], item[0])))
