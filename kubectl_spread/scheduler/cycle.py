"""One scheduling cycle: PreFilter, Filter over all nodes or a sample of them, Score.

Source: pkg/scheduler/schedule_one.go, schedulePod, findNodesThatFitPod, numFeasibleNodesToFind,
findNodesThatPassFilters, prioritizeNodes; backend/cache/node_tree.go; framework/runtime/framework.go,
RunPreFilterPlugins, RunFilterPluginsWithNominatedPods, RunPreScorePlugins, RunScorePlugins (v1.36.2).
Difference: upstream visits nodes in parallel and may find a few more or other nodes; here they are visited one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, Optional, Union

import numpy as np

from kubectl_spread.cluster.columns import Bools, Columns, Int64s
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.releases.behaviours import (
    CLAIMS_FOR_RESOURCES,
    GATED_NOMINATION,
    GONE_NODE_IS_ERROR,
    NOMINATED_FIRST,
    REQUEST_SUMS,
)
from kubectl_spread.objects.releases.version import LATEST
from kubectl_spread.objects.selectors import zone_of
from kubectl_spread.scheduler.filter_result import FilterResult, PluginResult
from kubectl_spread.scheduler.framework.node_values import NodeScores, ScoredTogether
from kubectl_spread.scheduler.framework.plugin import (
    CycleFailure,
    FilterState,
    FixedState,
    NodeIndices,
    Profile,
    Rejection,
    ScoreState,
    Skip,
    Status,
)

MIN_FEASIBLE_NODES_TO_FIND = 100
_MIN_PERCENTAGE = 5
ALL = 100  # percent: the search visits every node


def num_feasible_nodes_to_find(percentage: int, nodes: int) -> int:
    """Return how many feasible nodes are enough; a percentage of 0 adapts to the number of nodes."""
    if nodes < MIN_FEASIBLE_NODES_TO_FIND:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, _MIN_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES_TO_FIND)


def tree_order(nodes: tuple[Node, ...]) -> NodeIndices:
    """Return the first node of each zone, then the second of each, and so on: intp (N,)."""
    zones = grouped((zone_of(node.labels), at) for at, node in enumerate(nodes))
    longest = max(map(len, zones.values()), default=0)
    order = [members[at] for at in range(longest) for members in zones.values() if at < len(members)]
    return np.array(order, np.intp)


class Sampler:
    """The sampling state: the next search begins at `start`, where the last one ended."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self._n = len(nodes)
        order = tree_order(nodes)
        self._twice = np.concatenate([order, order])  # so that every rotation is a slice
        self.start = 0

    def restart(self) -> Sampler:
        """Return a sampler of the same nodes that starts at the first."""
        other = object.__new__(Sampler)
        other._n, other._twice, other.start = self._n, self._twice, 0
        return other

    def sample(self, feasible: Bools, considered: Optional[Bools], percentage: int) -> NodeIndices:
        """Return the feasible nodes that a search finds before it stops, in that order: intp (F,).

        Args:
            feasible: bool (N,).
            considered: bool (N,), the only nodes to look at; None for all.
            percentage: of feasible nodes after which the search stops; 0 adapts to the number of nodes.
        """
        order = self._twice[self.start : self.start + self._n]
        if considered is not None:
            order = order[considered[order]]
        want = num_feasible_nodes_to_find(percentage, len(order))
        looked = min(2 * want, len(order))
        while True:
            at = feasible[order[:looked]].nonzero()[0]
            if len(at) >= want or looked == len(order):
                break
            looked = min(3 * looked, len(order))
        processed = looked
        if len(at) >= want:
            at = at[:want]
            processed = int(at[-1]) + 1
        self.start = (self.start + processed) % self._n
        found: NodeIndices = order[at]
        return found


_NO_NODE: Bools = np.zeros(0, np.bool_)


class Scores(NamedTuple):
    """The scores of the feasible nodes; without numbers if the nodes were not scored, as a single one.

    nodes: intp (F,). by_plugin: normalised and weighted, int64 (F,) each; a plugin that skipped is absent. total:
    int64 (F,).
    """

    nodes: NodeIndices
    by_plugin: dict[str, Union[Int64s, int]] = {}  # noqa: RUF012 (never written to)
    total: Int64s = np.zeros(0, np.int64)

    def hosts(self) -> NodeIndices:
        """Return the nodes with the highest total, in the cluster's order: the scheduler may take any of them."""
        highest: NodeIndices = self.nodes[self.total == self.total.max()]
        highest.sort()
        return highest


class CycleState:
    """The plugins' states for one pod class on one cluster.

    rejection: why PreFilter rejects the pod; None if nodes are filtered.
    """

    _results: tuple[PluginResult, ...] = ()  # none if the pod is rejected

    def __init__(self, pod_class: PodClass, columns: Columns, profile: Profile) -> None:
        """Run the PreFilter plugins of a profile."""
        self._cls = pod_class
        self._columns = columns
        self._profile = profile
        # By plugin, the only nodes that its PreFilter result leaves, whether the plugin filters or not
        self._node_names: dict[str, frozenset[str]] = {}
        self.rejection = self._pre_filter()
        self._changing = [item.state for item in self._results if not isinstance(item.state, FixedState)]

    def _pre_filter(self) -> Union[Rejection, CycleFailure, None]:
        states: dict[str, FilterState] = {}
        for plugin in self._profile.pre_filter:
            answer: Union[FilterState, Skip, Rejection] = plugin.pre_filter(self._cls, self._columns)
            if isinstance(answer, Rejection):
                return answer._replace(plugin=plugin.name)
            if isinstance(answer, Skip):
                continue
            states[plugin.name] = answer
            if answer.node_names is not None:
                self._node_names[plugin.name] = answer.node_names
                if not frozenset.intersection(*self._node_names.values()):
                    several = f"plugin(s) [{' '.join(sorted(self._node_names))}] simultaneously"
                    which = several if len(self._node_names) > 1 else f"plugin {plugin.name}"
                    return Rejection(f"node(s) didn't satisfy {which}")
        if self._node_names and GONE_NODE_IS_ERROR.of(self._profile.release):
            gone = frozenset.intersection(*self._node_names.values()) - self._columns.index.keys()
            if gone:
                return CycleFailure(f'nodeinfo not found for node name "{min(gone)}"')
        order = self._profile.filter_order
        self._results = tuple(PluginResult(name, states[name]) for name in order if name in states)
        return None

    def filter_result(self) -> FilterResult:
        considered, fixed = self._nodes_to_filter
        feasible = fixed.copy()
        for state in self._changing:
            feasible &= state.fits()
        narrowed_by = tuple(self._node_names)
        release = self._profile.release
        return FilterResult(self._columns, self._results, considered, feasible, narrowed_by, release=release)

    def reserve(self, node: int) -> None:
        for result in self._results:
            result.state.reserve(node)

    @cached_property
    def score_states(self) -> tuple[ScoreState, ...]:
        return tuple(plugin.pre_score(self._cls, self._columns) for plugin, _ in self._profile.score)

    @cached_property
    def deciding(self) -> tuple[tuple[int, ScoreState], ...]:
        """Return weights and states whose sum is the total. States that depend on the node alone are already summed."""
        weighted = [(weight, state) for (_, weight), state in zip(self._profile.score, self.score_states, strict=True)]
        by_node = [(weight, state) for weight, state in weighted if isinstance(state, NodeScores)]
        others = [(weight, state) for weight, state in weighted if not isinstance(state, NodeScores)]
        if not by_node:
            return tuple(others)
        # Classes that share the states share their sum. It keeps the states alive, so that their ids stay their own.
        key = (ScoredTogether, *((weight, id(state)) for weight, state in by_node))
        together = self._columns.share(key, lambda: ScoredTogether(by_node, self._columns))
        # This comes last, because errors of other plugins' PreScore precede a score that is out of range.
        return (*others, (1, together))

    @cached_property
    def unscored_states(self) -> tuple[ScoreState, ...]:
        """Return the states of plugins whose PreScore runs and whose Score does not: these can only fail."""
        return tuple(plugin.pre_score(self._cls, self._columns) for plugin in self._profile.pre_score)

    @cached_property
    def _nodes_to_filter(self) -> tuple[Bools, Bools]:
        """Return the nodes that the PreFilter results leave, and those of them that no fixed state refuses."""
        considered = np.ones(self._columns.n, np.bool_)
        for left in self._node_names.values():
            considered &= np.array([node.name in left for node in self._columns.nodes], np.bool_)
        fixed = considered.copy()
        for result in self._results:
            if isinstance(result.state, FixedState):
                fixed &= result.state.fits()
        return considered, fixed


class Scheduler:
    """A scheduler that runs cycles on one cluster, whose columns change as pods are bound."""

    def __init__(
        self,
        columns: Columns,
        profiles: Mapping[str, Profile],
        *,
        all_nodes: bool = False,
        sampler: Optional[Sampler] = None,
    ) -> None:
        """Start a scheduler on a cluster.

        Args:
            columns: the cluster.
            profiles: by scheduler name.
            all_nodes: switch sampling off in clusters of 100 nodes and more.
            sampler: for these nodes, if there is one already.
        """
        self.columns = columns
        self._profiles = profiles
        self._release = next((profile.release for profile in profiles.values()), LATEST)
        self._tries_nominated_first = NOMINATED_FIRST.of(self._release)
        columns.follow(REQUEST_SUMS.of(self._release))
        self._sampler = None if all_nodes else sampler or Sampler(columns.nodes)
        self._states: dict[int, CycleState] = {}  # by index of the class in columns.classes
        self._nominated: dict[int, list[Pod]] = {}
        for pod in columns.cluster.pending():
            if self.has_profile(pod.cls):  # other schedulers have queues of their own
                self.nominate(pod)

    def with_columns(self, columns: Columns) -> Scheduler:
        """Return a scheduler for a changed cluster of the same nodes, with the same nominated pods."""
        other = Scheduler(columns, self._profiles, all_nodes=True)
        other._sampler = self._sampler
        other._nominated = {node: list(pods) for node, pods in self._nominated.items()}
        return other

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that pods may give as their scheduler."""
        return tuple(self._profiles)

    def profile_of(self, pod_class: PodClass) -> Profile:
        """Return the profile that a pod names.

        Raises:
            KeyError: no profile has this name; no scheduler takes the pod.
        """
        return self._profiles[pod_class.scheduler_name]

    def has_profile(self, pod_class: PodClass) -> bool:
        """Return whether some profile schedules the pod."""
        return pod_class.scheduler_name in self._profiles

    def nominate(self, pod: Pod) -> None:
        """Reserve the nominated node of a pending pod against others, until the pod is bound."""
        at = self.columns.index.get(pod.nominated_node)
        if at is not None and (not pod.cls.gates or GATED_NOMINATION.of(self._release)):
            self._nominated.setdefault(at, []).append(pod)

    def renominate(self, pods: Sequence[Pod]) -> None:
        """Replace all nominated pods."""
        self._nominated = {}
        for pod in pods:
            self.nominate(pod)

    def filter(self, pod: Pod) -> FilterResult:
        """Find the nodes that fit a pod."""
        if not self.columns.n:
            return FilterResult(self.columns, (), _NO_NODE, _NO_NODE)
        prepared = self._prepare(pod.cls)
        if prepared.rejection is not None:
            none = np.zeros(self.columns.n, np.bool_)
            return FilterResult(self.columns, (), none, none, (), prepared.rejection, release=self._release)
        filtered = prepared.filter_result()
        if not self._tries_nominated_first:
            return self._with_nominated(pod, filtered) if self._nominated else filtered
        own = self.columns.index.get(pod.nominated_node)
        if own is not None and not filtered.considered[own]:
            filtered = filtered._replace(own=own)
        if self._nominated:
            filtered = self._with_nominated(pod, filtered)
        if own is not None and filtered.feasible[own]:
            # The pod's own nominated node is tried first, and taken without a look at the others.
            only = np.zeros(self.columns.n, np.bool_)
            only[own] = True
            return filtered._replace(considered=only, feasible=only, narrowed_by=())
        return filtered

    def score(self, pod: Pod, filtered: FilterResult, nodes: Optional[NodeIndices] = None) -> Scores:
        """Score the feasible nodes, or some of them; there must be at least one.

        Raises:
            ScoreError: a plugin failed, and the scheduler would not place the pod.
        """
        prepared = self._prepare(pod.cls)
        if nodes is None:
            nodes = np.flatnonzero(filtered.feasible)
        for state in prepared.unscored_states:
            state.score(nodes)
        same_for_all = 0
        total = np.zeros(len(nodes), np.int64)
        by_plugin: dict[str, Union[Int64s, int]] = {}
        for (plugin, weight), state in zip(self.profile_of(pod.cls).score, prepared.score_states, strict=True):
            scores = state.score(nodes)
            if scores is not None:
                by_plugin[plugin.name] = weighted = scores * weight
                if isinstance(weighted, int):
                    same_for_all += weighted
                else:
                    total += weighted
        total += same_for_all
        return Scores(nodes, by_plugin, total)

    def hosts(self, pod: Pod, filtered: FilterResult) -> NodeIndices:
        """Return the nodes with the highest score, in the cluster's order; a single node is not scored.

        In a cluster of 100 nodes or more the scheduler stops its search early, unless it is configured to visit all
        nodes. Then the result holds the best of the nodes that the search finds.
        """
        nodes = self._search(pod, filtered)
        return nodes if len(nodes) == 1 else self._best(pod, nodes)

    def to_score(self, pod: Pod, filtered: FilterResult) -> NodeIndices:
        """Return the nodes that `hosts` would score now, without changing where the next search starts."""
        if self._sampler is None:
            return self._search(pod, filtered)
        start = self._sampler.start
        nodes = self._search(pod, filtered)
        self._sampler.start = start
        return nodes

    def _search(self, pod: Pod, filtered: FilterResult) -> NodeIndices:
        percentage = self.profile_of(pod.cls).percentage_of_nodes_to_score
        if self._sampler is None or self.columns.n < MIN_FEASIBLE_NODES_TO_FIND or percentage == ALL:
            return np.flatnonzero(filtered.feasible)
        considered = filtered.considered if filtered.narrowed_by else None
        return self._sampler.sample(filtered.feasible, considered, percentage)

    def _best(self, pod: Pod, nodes: NodeIndices) -> NodeIndices:
        """Return `score(...).hosts()` without making the table."""
        prepared, total = self._prepare(pod.cls), None
        for state in prepared.unscored_states:
            state.score(nodes)
        for weight, state in prepared.deciding:
            scores = state.score(nodes)
            if scores is not None and not isinstance(scores, int):  # a number for all decides nothing
                weighted = scores if weight == 1 else scores * weight
                total = weighted if total is None else total + weighted
        # perf: argmax takes a quarter of the time of max
        best = nodes if total is None else nodes[total == total[total.argmax()]]
        best.sort()  # in place: an array of this cycle's own
        return best

    def bind(self, pod: Pod, node: int) -> None:
        """Bind a pod to a node; every later cycle sees it."""
        if pod.cls.volumes:
            self._prepare(pod.cls).reserve(node)
        for pods in self._nominated.values():
            pods[:] = [other for other in pods if other.uid != pod.uid]
        self.columns.bind(pod._replace(node_name=self.columns.nodes[node].name), node)

    def nominated_pods(self, node: int, pod: Pod) -> list[Pod]:
        """Return the pods nominated to a node that another pod must leave room for (addGENominatedPods)."""
        return [
            other
            for other in self._nominated.get(node, ())
            if other.cls.priority >= pod.cls.priority and other.uid != pod.uid
        ]

    def _with_nominated(self, pod: Pod, filtered: FilterResult) -> FilterResult:
        """Require each node to fit with the pods nominated to it, and without them."""
        failing: dict[int, Status] = {}
        for node in self._nominated:
            added = self.nominated_pods(node, pod)
            is_filtered = filtered.considered[node] or node == filtered.own
            status = filtered.filter_with(node, (), added) if added and is_filtered else None
            if status is not None:
                failing[node] = status
        if not failing:
            return filtered
        feasible = filtered.feasible.copy()
        feasible[list(failing)] = False
        return filtered._replace(feasible=feasible, nominated=failing)

    def _prepare(self, pod_class: PodClass) -> CycleState:
        at = self.columns.class_index(pod_class)
        found = self._states.get(at)
        if found is None:
            found = self._states[at] = CycleState(
                self.columns.with_summed_requests(pod_class), self.columns, self.profile_of(pod_class)
            )
        return found


UNKNOWN_CLAIMS = "claims that are not in the cluster facts (kubectl get pv,pvc,storageclasses -A)"
_OF_DEVICE_CLASS = "deviceclass.resource.kubernetes.io/"


def unsupported_features(pod_class: PodClass, profile: Optional[Profile], cluster: Cluster) -> tuple[str, ...]:
    """Return the features a pod depends on that are not evaluated, in words; empty if its node can be predicted.

    Args:
        pod_class: the class of the pod.
        profile: the profile that the pod names; None if it does not exist.
        cluster: its device classes may provide the pod's resources.
    """
    if profile is None:
        return (*pod_class.beyond, f"the scheduler {pod_class.scheduler_name}")
    found = list(pod_class.beyond)
    if not cluster.storage.has_claims and any(volume.claim for volume in pod_class.volumes):
        found.append(UNKNOWN_CLAIMS)
    if pod_class.pod_group:  # its pods are placed together or not at all
        least = cluster.gangs.get(NamespacedName(pod_class.namespace, pod_class.pod_group))
        gang = f"its gang of {least}, pod group" if least else "its pod group"
        found.append(f"{gang} {pod_class.pod_group}")
    # The scheduler creates resource claims for extended resources that devices provide.
    for resource, _ in pod_class.requests if CLAIMS_FOR_RESOURCES.of(profile.release) else ():
        device_class = cluster.device_classes.get(resource, "")
        if resource.startswith(_OF_DEVICE_CLASS):
            device_class = resource.removeprefix(_OF_DEVICE_CLASS)
        if device_class:
            found.append(f"the devices of the class {device_class}")
    found += [f"the plugin {name}" for name in profile.foreign]
    requested = {resource for resource, _ in pod_class.requests}
    for extender in profile.extenders:
        if not extender.resources or extender.resources & requested:
            found.append(f"the extender {extender.url}")
    return tuple(found)
